import { isReasonOf, type MetricName, REASONS } from '@squall/core/metrics';
import { describe, expect, test } from 'vitest';
import * as mqtt from '../../../mqtt/src/clients/reasons.ts';
import * as tls from '../../../mqtt/src/transport/tls/tls-reasons.ts';
import * as websocket from '../../../mqtt/src/transport/ws/ws-reasons.ts';
import * as worker from '../../src/worker/measure/reasons.ts';

/** Who ends connections says why with these; a CONNACK's code ends attempts only. */
const connection = [
  mqtt.Reason.timedOut,
  mqtt.Reason.closedByBroker,
  ...Object.values(mqtt.SOCKET_REASONS),
];
const GIVEN: Readonly<Partial<Record<MetricName, readonly string[]>>> = {
  protocol_errors: [worker.UNKNOWN_PUBACK, worker.UNKNOWN_SUBACK],
  connect_failed: [
    ...connection,
    ...Object.values(tls.TLS_REASONS),
    tls.CLOSED_IN_HANDSHAKE,
    ...Object.values(websocket.UPGRADE_REASONS),
    ...mqtt.CONNACK_REASONS.slice(1),
  ],
  disconnected: [...connection, mqtt.Reason.keepAlive, mqtt.Reason.notReading],
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
  ],
  subscribe_failed: [
    mqtt.subackFailure(0x80) ?? '',
    worker.SUBSCRIBE_TIMED_OUT,
    worker.SUBSCRIBE_CONNECTION_LOST,
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
      mqtt.connackReason(0x87),
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
    expect(isReasonOf('disconnected', mqtt.connackReason(0x87))).toBe(false);
  });

  test('knows every reason that the worker has a name for', () => {
    const all = Object.values(REASONS).flatMap(({ fixed, beginnings }) => [
      ...fixed,
      ...beginnings,
    ]);
    expect(all).toEqual(expect.arrayContaining(Object.values(worker)));
  });
});
