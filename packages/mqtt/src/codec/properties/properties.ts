/** The properties of MQTT 5 [MQTT-2.2.2], all packets together. What is left out is not sent. */
export interface Properties {
  /** 1: the payload is UTF-8 text. */
  readonly payloadFormatIndicator?: number | undefined;
  /** s, 0–4,294,967,295. */
  readonly messageExpiryInterval?: number | undefined;
  readonly contentType?: string | undefined;
  /** A topic without wildcards. */
  readonly responseTopic?: string | undefined;
  readonly correlationData?: Uint8Array | undefined;
  /** 1–268,435,455; one in SUBSCRIBE, any number in PUBLISH. */
  readonly subscriptionIdentifiers?: readonly number[] | undefined;
  /** s; 4,294,967,295 = never. */
  readonly sessionExpiryInterval?: number | undefined;
  readonly assignedClientIdentifier?: string | undefined;
  /** s, 0–65,535. */
  readonly serverKeepAlive?: number | undefined;
  readonly authenticationMethod?: string | undefined;
  readonly authenticationData?: Uint8Array | undefined;
  readonly requestProblemInformation?: boolean | undefined;
  /** s. */
  readonly willDelayInterval?: number | undefined;
  readonly requestResponseInformation?: boolean | undefined;
  readonly responseInformation?: string | undefined;
  readonly serverReference?: string | undefined;
  readonly reasonString?: string | undefined;
  /** 1–65,535. */
  readonly receiveMaximum?: number | undefined;
  /** 0–65,535. */
  readonly topicAliasMaximum?: number | undefined;
  /** 1–65,535. */
  readonly topicAlias?: number | undefined;
  /** 0 or 1; left out: 2. */
  readonly maximumQos?: number | undefined;
  readonly retainAvailable?: boolean | undefined;
  /** In the order they travel in; a name may come more than once. */
  readonly userProperties?: readonly (readonly [name: string, value: string])[] | undefined;
  /** Bytes of a whole packet, 1–4,294,967,295. */
  readonly maximumPacketSize?: number | undefined;
  readonly wildcardSubscriptionAvailable?: boolean | undefined;
  readonly subscriptionIdentifierAvailable?: boolean | undefined;
  readonly sharedSubscriptionAvailable?: boolean | undefined;
}

/** What CONNECT may carry, the authentication apart [MQTT-3.1.2.11]. */
export type ConnectProperties = Pick<
  Properties,
  | 'sessionExpiryInterval'
  | 'receiveMaximum'
  | 'maximumPacketSize'
  | 'topicAliasMaximum'
  | 'requestResponseInformation'
  | 'requestProblemInformation'
  | 'userProperties'
>;

/** What a will may carry [MQTT-3.1.3.2]. */
export type WillProperties = Pick<
  Properties,
  | 'willDelayInterval'
  | 'payloadFormatIndicator'
  | 'messageExpiryInterval'
  | 'contentType'
  | 'responseTopic'
  | 'correlationData'
  | 'userProperties'
>;

/** What a client's PUBLISH may carry, the topic alias apart [MQTT-3.3.2.3]. */
export type PublishProperties = Pick<
  Properties,
  | 'payloadFormatIndicator'
  | 'messageExpiryInterval'
  | 'contentType'
  | 'responseTopic'
  | 'correlationData'
  | 'userProperties'
>;
