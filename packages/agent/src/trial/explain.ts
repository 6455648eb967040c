/** What a failed step of the trial most likely means, and what to look at. */
interface Explanation {
  readonly pattern: RegExp;
  readonly hint: string;
}

const CONNECT: readonly Explanation[] = [
  {
    pattern: /host name not found|lookup failed/,
    hint: 'correct the host in urls, or the name service: getent hosts NAME',
  },
  {
    pattern: /connection refused/,
    hint: 'nothing listens there: start the broker, or correct host and port in urls',
  },
  {
    pattern: /unreachable/,
    hint: 'there is no way to that address from here: correct it, or the routes of this host',
  },
  {
    pattern: /^timed out/,
    hint: 'nobody answered: a firewall, a wrong port, or a broker that is stuck',
  },
  {
    pattern: /does not speak TLS|closed by the peer during the handshake/,
    hint: 'the port is one without TLS, or of another protocol: mqtt:// and ws:// go without',
  },
  {
    pattern: /is for another host/,
    hint: 'set tls.servername to a name that the certificate bears, or use that name in urls',
  },
  { pattern: /unknown authority|self-signed/, hint: 'name the file of the authority in tls.ca' },
  {
    pattern: /requires a client certificate|wants a client certificate/,
    hint: 'give tls.cert and tls.key',
  },
  {
    pattern: /certificate or its key cannot be used/,
    hint: 'tls.cert and tls.key of the plan do not belong together, or one of them is damaged; the broker was not asked',
  },
  {
    pattern: /no PEM certificate/,
    hint: 'the file that the plan names holds no certificate in PEM form; the broker was not asked',
  },
  {
    pattern: /client certificate/,
    hint: 'the broker does not take tls.cert: look at its authority and at its dates',
  },
  { pattern: /^TLS/, hint: 'look at tls of the target, and at the log of the broker' },
  {
    pattern: /^WebSocket: .*(404|400|403)/,
    hint: 'the path in urls is another one at this broker, such as /mqtt or /ws',
  },
  { pattern: /^WebSocket/, hint: 'the port speaks no WebSocket: correct the port, or use mqtt://' },
  {
    pattern: /unacceptable protocol version|unsupported protocol version/,
    hint: 'set version of the target to one that the broker speaks',
  },
  {
    pattern: /client id rejected|client identifier not valid/,
    hint: 'the broker wants other client ids: set clientId of the group',
  },
  {
    pattern: /bad user name or password/,
    hint: 'set username and password of the group; write secrets as {{env.NAME}}',
  },
  {
    pattern: /not authorized|banned/,
    hint: 'the broker knows this client and lets it not in: look at its access rules',
  },
  {
    pattern: /server unavailable|server busy|quota/,
    hint: 'the broker has no room for it: look at its limits and its log',
  },
  {
    pattern: /closed by broker|connection reset/,
    hint: 'the broker hung up without a word: look at its log; a TLS port that is dialled by mqtt:// looks like that, too',
  },
  {
    pattern: /malformed|protocol error/,
    hint: 'what answers there speaks no MQTT, or not this version of it',
  },
];

const LATER: readonly Explanation[] = [
  { pattern: /not authorized/, hint: 'the access rules of the broker forbid it to this client' },
  { pattern: /topic filter invalid|topic name invalid/, hint: 'the broker forbids such topics' },
  { pattern: /shared subscriptions not supported/, hint: 'the broker has no shared subscriptions' },
  { pattern: /wildcard/, hint: 'the broker has no wildcards' },
  { pattern: /QoS/, hint: 'ask for a lower QoS' },
  {
    pattern: /subscription refused/,
    hint: 'look at the access rules of the broker for this client and topic',
  },
  {
    pattern: /no answer within/,
    hint: 'the broker took it and did not answer: look at its log and load',
  },
  {
    pattern: /connection lost/,
    hint: 'the broker ended the connection: topic, payload or client may break a limit of it; look at its log',
  },
];

export function explainConnect(reason: string): string {
  return hintFor(CONNECT, reason) ?? 'look at the log of the broker';
}

export function explainLater(reason: string): string {
  return hintFor(LATER, reason) ?? 'look at the log of the broker';
}

function hintFor(list: readonly Explanation[], reason: string): string | null {
  return list.find(({ pattern }) => pattern.test(reason))?.hint ?? null;
}
