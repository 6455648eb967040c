import type { ProbeSource } from '@squall/core/plan';
import { NodeProbe } from './exposition/node-exporter.ts';
import { PrometheusProbe } from './exposition/prometheus.ts';
import { HttpProbe } from './http/json.ts';
import { NginxProbe } from './http/nginx.ts';
import type { Probe } from './probe.ts';
import { MysqlProbe } from './sql/mysql.ts';
import { PostgresProbe } from './sql/postgres.ts';

/** The probe of a source whose secrets are filled in. It connects with its first reading. */
export function openProbe(source: ProbeSource): Probe {
  switch (source.type) {
    case 'mysql':
      return new MysqlProbe(source);
    case 'postgres':
      return new PostgresProbe(source);
    case 'nginx':
      return new NginxProbe(source.url);
    case 'http':
      return new HttpProbe(source);
    case 'prometheus':
      return new PrometheusProbe(source);
    case 'node':
      return new NodeProbe(source.url);
  }
}
