// The load of the controls with bare sockets: ready packets, written at an even pace.

/** CONNECT of MQTT 3.1.1: clean session, keep-alive 60 s. */
export function connectPacket(clientId) {
  const id = Buffer.from(clientId);
  const head = Buffer.from([0x10, 12 + id.length, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60]);
  return Buffer.concat([head, Buffer.from([0, id.length]), id]);
}

/**
 * Writes the PUBLISH of each socket in turn, at QoS 1 with packet id 1, each once in `periodMs`. Says
 * "connected" first.
 */
export function publishEvenly(sockets, { periodMs, payloadBytes }) {
  process.stdout.write('connected\n');
  const packets = sockets.map((_, index) => publishPacket(index, payloadBytes));
  const begun = performance.now();
  let sent = 0;
  const tick = () => {
    const due = ((performance.now() - begun) / periodMs) * sockets.length;
    while (sent <= due) {
      const index = sent % sockets.length;
      sockets[index].write(packets[index]);
      sent++;
    }
    setTimeout(tick, 1);
  };
  tick();
}

function publishPacket(index, payloadBytes) {
  const topic = Buffer.from(`bench/${String(index).padStart(5, '0')}/up`);
  const body = Buffer.concat([
    Buffer.from([0, topic.length]),
    topic,
    Buffer.from([0, 1]),
    Buffer.alloc(payloadBytes, 'x'),
  ]);
  const length = body.length < 128 ? [body.length] : [(body.length % 128) | 128, body.length >> 7];
  return Buffer.concat([Buffer.from([0x32, ...length]), body]);
}
