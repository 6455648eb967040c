import { isReasonOf, type MetricName, NOT_SENT, REASONS } from '@squall/core/metrics';
import { describe, expect, test } from 'vitest';
import { PUBLISH_LIMITS, SUBSCRIBE_LIMITS } from '../../../mqtt/src/clients/broker-limits.ts';
import * as mqtt from '../../../mqtt/src/clients/reasons.ts';
import { FAILURE_CODES, reasonCodeName } from '../../../mqtt/src/codec/reason-code.ts';
import * as tls from '../../../mqtt/src/transport/tls/tls-reasons.ts';
import * as websocket from '../../../mqtt/src/transport/ws/ws-reasons.ts';
import * as worker from '../../src/worker/measure/reasons.ts';

/** Who ends connections says why with these; a CONNACK's code ends attempts only. */
const connection = [
  mqtt.Reason.timedOut,
  mqtt.Reason.closedByBroker,
  ...Object.values(mqtt.SOCKET_REASONS),
];
const disconnected = [...connection, mqtt.Reason.keepAlive, mqtt.Reason.notReading];
/** Reason codes of MQTT 5. */
const codes = FAILURE_CODES.map(reasonCodeName);
const notSent = (why: string) => `${NOT_SENT}${why}`;
const GIVEN: Readonly<Partial<Record<MetricName, readonly string[]>>> = {
  protocol_errors: [
    worker.UNKNOWN_PUBACK,
    worker.UNKNOWN_PUBREC,
    worker.UNKNOWN_PUBCOMP,
    worker.UNKNOWN_SUBACK,
    worker.UNKNOWN_UNSUBACK,
  ],
  connect_failed: [
    ...connection,
    ...Object.values(tls.TLS_REASONS),
    tls.CLOSED_IN_HANDSHAKE,
    ...Object.values(websocket.UPGRADE_REASONS),
    ...mqtt.CONNACK_REASONS.slice(1),
    ...codes,
  ],
  disconnected,
  taken_over: disconnected,
  takeover_failed: [worker.OLD_STAYS, worker.NEW_FAILED],
  unsubscribe_failed: [worker.UNSUBSCRIBE_TIMED_OUT, worker.UNSUBSCRIBE_CONNECTION_LOST, ...codes],
  request_failed: [
    worker.NO_ANSWER_IN_TIME,
    worker.NO_ANSWER_BY_DRAIN_END,
    worker.TOO_MANY_REQUESTS,
  ],
  answer_failed: [worker.NO_RESPONSE_TOPIC, worker.TOO_MANY_ANSWERS],
  dropped: [
    worker.DROPPED_GENERATOR,
    worker.DROPPED_WINDOW,
    worker.DROPPED_NOT_CONNECTED,
    worker.DROPPED_BACKPRESSURE,
  ],
  publish_failed: [
    worker.CONNECTION_LOST,
    worker.NO_ACK_IN_TIME,
    worker.NO_ACK_BY_DRAIN_END,
    worker.LOST_BEFORE_SENT,
    worker.UNSENT_IN_TIME,
    worker.UNSENT_BY_DRAIN_END,
    worker.SESSION_LOST,
    ...PUBLISH_LIMITS.map(notSent),
    ...codes,
  ],
  subscribe_failed: [
    mqtt.subackFailure(0x80, '3.1.1') ?? '',
    worker.SUBSCRIBE_TIMED_OUT,
    worker.SUBSCRIBE_CONNECTION_LOST,
    ...SUBSCRIBE_LIMITS.map(notSent),
    ...codes,
  ],
  unfinished: [worker.UNFINISHED_WAITING, worker.UNFINISHED_IN_FLIGHT],
};

describe('the catalogue of reasons', () => {
  test.each(Object.entries(REASONS))('has every reason of %s, and no other', (metric, known) => {
    const given = Object.entries(GIVEN).find(([name]) => name === metric)?.[1] ?? [];
    expect(known.fixed.toSorted()).toEqual([...new Set(given)].toSorted());
  });

  test('knows how reasons begin that say what was found', () => {
    const found = [
      mqtt.connackReason(0x87, '3.1.1'),
      mqtt.connackReason(0x87, '5'),
      `${worker.NO_CONNECT}the client id is too long`,
      mqtt.malformedPacket('PUBACK'),
      mqtt.protocolError('unexpected PINGREQ'),
      mqtt.socketReason(Object.assign(new Error('x'), { code: 'ESTRANGE' })),
      mqtt.socketReason(tls.tlsFault(Object.assign(new Error('x'), { code: 'ERR_SSL_NEW' }), true)),
      websocket.httpRefusal(404),
      websocket.malformedFrame('reserved bits are set'),
      websocket.closeReason(1008) ?? '',
    ];
    for (const reason of found) expect(isReasonOf('connect_failed', reason), reason).toBe(true);
    expect(isReasonOf('publish_failed', `${worker.NOT_RENDERED}the topic is empty`)).toBe(true);
    expect(isReasonOf('disconnected', mqtt.connackReason(0x87, '3.1.1'))).toBe(false);
    expect(isReasonOf('disconnected', mqtt.brokerDisconnect(0x8e))).toBe(true);
    expect(isReasonOf('disconnected', mqtt.brokerDisconnect(0))).toBe(true);
  });

  test('knows every reason that the worker has a name for', () => {
    const all = Object.values(REASONS).flatMap(({ fixed, beginnings }) => [
      ...fixed,
      ...beginnings,
    ]);
    expect(all).toEqual(expect.arrayContaining(Object.values(worker)));
  });
});
