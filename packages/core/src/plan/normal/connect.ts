import { NEVER_S } from '../limits.ts';
import type { AuthSpec, ConnectProperties, ConnectSpec, WillSpec } from '../plan.ts';
import type { ConnectFile } from '../schema/connect.ts';
import type { GroupFile } from '../schema/plan-file.ts';
import { type GroupPlace, inside, needs5 } from './context.ts';
import { normalisePayload, refuseStamp } from './payloads.ts';
import { normaliseProperties, normaliseUserProperties, secondsOf } from './properties.ts';
import { qosOf } from './qos.ts';

/** Connects a second where the plan does not say. */
const DEFAULT_CONNECT_RATE = 1_000;

/** @param clients of the whole group, for `over`. */
export function normaliseConnect(
  group: GroupFile,
  clients: number,
  place: GroupPlace,
): ConnectSpec {
  const { connect, username, password } = group;
  const { path, context } = place;
  const { findings } = context;
  const { over, keepAlive, backoff } = connect;
  if (connect.rate !== undefined && over !== undefined) {
    findings.error([...path, 'over'], 'rate and over cannot both be given', {
      atKey: true,
    });
  }
  const keepAliveS = keepAlive / 1_000_000;
  if (!Number.isInteger(keepAliveS)) {
    findings.error([...path, 'keepAlive'], 'keep-alive is a whole number of seconds', {
      hint: 'MQTT carries it in seconds [MQTT-3.1.2.10]',
    });
  }
  if (backoff.min > backoff.max) {
    findings.error([...path, 'backoff'], 'the shortest pause (min) is longer than the longest');
  }
  needs5(place, 'sessionExpiry', connect.sessionExpiry);
  return {
    ratePerS:
      over === undefined
        ? connectRate(group, connect.rate ?? DEFAULT_CONNECT_RATE, place)
        : (clients / over) * 1_000_000,
    keepAliveS,
    cleanStart: connect.cleanStart,
    timeoutUs: connect.timeout,
    retries: connect.retries,
    backoffMinUs: backoff.min,
    backoffMaxUs: backoff.max,
    sessionExpiryS: sessionExpiryOf(connect, place),
    will: willOf(connect.will, inside(place, 'will')),
    properties: connectPropertiesOf(connect.properties, place),
    auth: authOf(connect.auth, { username, password, place }),
  };
}

/** Clients that are kept whatever the scale connect in the time that they always take. */
function connectRate({ clients }: GroupFile, perS: number, { path, context }: GroupPlace): number {
  if (typeof clients === 'object' && !clients.scale) return perS;
  return context.scaler.rate([...path, 'rate'], perS);
}

/** A session that is to be found again is kept, as it is before MQTT 5. */
function sessionExpiryOf(
  { sessionExpiry, cleanStart }: ConnectFile,
  { path, context, target }: GroupPlace,
): number | null {
  if (sessionExpiry === 'never') return NEVER_S;
  if (sessionExpiry === undefined) return target.version === '5' && !cleanStart ? NEVER_S : null;
  return secondsOf(sessionExpiry, [...path, 'sessionExpiry'], context);
}

function willOf(will: ConnectFile['will'], place: GroupPlace): WillSpec | null {
  if (will === undefined) return null;
  const { path, context } = place;
  needs5(place, 'delay', will.delay);
  needs5(place, 'expiry', will.expiry);
  needs5(place, 'properties', will.properties);
  const payload = normalisePayload(will.payload ?? 0, {
    path: [...path, 'payload'],
    context,
  });
  refuseStamp(payload, 'a will is', { path: [...path, 'payload'], context });
  if (payload.kind === 'files') {
    context.findings.error([...path, 'payload', 'files'], 'a will has one payload', {
      hint: 'write file:',
    });
  }
  return {
    topic: will.topic,
    payload,
    qos: qosOf(will.qos),
    retain: will.retain,
    delayS: secondsOf(will.delay, [...path, 'delay'], context),
    expiryS: secondsOf(will.expiry, [...path, 'expiry'], context),
    properties: normaliseProperties(will.properties),
  };
}

function connectPropertiesOf(
  properties: ConnectFile['properties'],
  place: GroupPlace,
): ConnectProperties | null {
  needs5(place, 'properties', properties);
  if (properties === undefined) return null;
  const { maximumPacketSize } = properties;
  if (maximumPacketSize !== undefined && (maximumPacketSize < 1 || maximumPacketSize > NEVER_S)) {
    place.context.findings.error(
      [...place.path, 'properties', 'maximumPacketSize'],
      `${maximumPacketSize} bytes are out of range: 1 to ${NEVER_S} [MQTT-3.1.2.11.4]`,
    );
  }
  return {
    receiveMaximum: properties.receiveMaximum ?? null,
    maximumPacketSize: maximumPacketSize ?? null,
    topicAliasMaximum: properties.topicAliasMaximum ?? null,
    requestResponseInformation: properties.requestResponseInformation ?? null,
    requestProblemInformation: properties.requestProblemInformation ?? null,
    userProperties: normaliseUserProperties(properties.userProperties),
  };
}

function authOf(
  auth: ConnectFile['auth'],
  identity: {
    readonly username: string | undefined;
    readonly password: string | undefined;
    readonly place: GroupPlace;
  },
): AuthSpec | null {
  const { username, password, place } = identity;
  needs5(place, 'auth', auth);
  if (auth === undefined) return null;
  if (username === undefined || password === undefined) {
    place.context.findings.error(
      [...place.path, 'auth'],
      `${auth.method} needs username and password`,
      { hint: 'write them into the group', atKey: true },
    );
  }
  return { method: auth.method };
}
