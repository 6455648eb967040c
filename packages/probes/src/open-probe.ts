import type { ProbeSource } from '@squall/core/plan';
import { RabbitmqProbe } from './brokers/rabbitmq.ts';
import { EmqxProbe } from './emqx/emqx.ts';
import { NodeProbe } from './exposition/node-exporter.ts';
import { PrometheusProbe } from './exposition/prometheus.ts';
import { HttpProbe } from './http/json.ts';
import { NginxProbe } from './http/nginx.ts';
import { LateProbe } from './late-probe.ts';
import type { Probe } from './probe.ts';
import { HostProbe, type HostReader } from './host/host-probe.ts';
import { type HookScene, webhookProbe } from './webhook/webhook-probe.ts';

/** What of the run some probes need. */
export interface ProbeScene {
  readonly hook: HookScene;
  readonly hosts: HostReader;
}

/** The probe of a source whose secrets are filled in. It connects with its first reading. */
export function openProbe(source: ProbeSource, scene: ProbeScene): Probe {
  switch (source.type) {
    case 'mysql':
      return new LateProbe(async () => new (await import('./sql/mysql.ts')).MysqlProbe(source));
    case 'postgres':
      return new LateProbe(
        async () => new (await import('./sql/postgres.ts')).PostgresProbe(source),
      );
    case 'nginx':
      return new NginxProbe(source.url);
    case 'http':
      return new HttpProbe(source);
    case 'prometheus':
      return source.preset === 'node'
        ? new NodeProbe(source.url, source.headers)
        : new PrometheusProbe(source);
    case 'node':
      return new NodeProbe(source.url);
    case 'emqx':
      return new EmqxProbe(source);
    case 'mosquitto':
      return new LateProbe(
        async () => new (await import('./brokers/mosquitto.ts')).MosquittoProbe(source.url),
      );
    case 'rabbitmq':
      return new RabbitmqProbe(source.url);
    case 'rocketmq':
      return new LateProbe(
        async () => new (await import('./brokers/rocketmq.ts')).RocketmqProbe(source),
      );
    case 'webhook':
      return webhookProbe(source, scene.hook);
    case 'host':
      return new HostProbe(source, scene.hosts);
  }
}
