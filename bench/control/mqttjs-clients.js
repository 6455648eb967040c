// The clients of the controls with MQTT.js, as its README shows.
import mqtt from 'mqtt';

/** Resolves when all are connected. */
export async function connectClients({ host, port, count }) {
  const clients = Array.from({ length: count }, (_, index) =>
    mqtt.connect(`mqtt://${host}:${port}`, {
      clientId: `bench-js-${index}`,
      protocolVersion: 4,
      clean: true,
      keepalive: 60,
    }),
  );
  await Promise.all(
    clients.map((client) => new Promise((resolve) => client.once('connect', resolve))),
  );
  return clients;
}

/** The topic of a client, which is that of the worker's, too. */
export function topicOf(index) {
  return `bench/${String(index).padStart(5, '0')}/up`;
}
