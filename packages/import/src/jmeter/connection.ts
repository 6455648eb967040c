import type { DraftMap } from '../plan/draft.ts';
import type { JmeterElement } from './element.ts';
import type { Variables } from './variables.ts';

const SCHEMES: Readonly<Record<string, string>> = {
  TCP: 'mqtt',
  SSL: 'mqtts',
  WS: 'ws',
  WSS: 'wss',
};
/** Attempts that stand for "without end". */
const ENDLESS_RETRIES = 1_000;

/** The target of a sampler that connects. */
export function targetOf(sampler: JmeterElement, variables: Variables): DraftMap {
  const protocol =
    (variables.constant(sampler.text('mqtt.protocol')) ?? '').trim().toUpperCase() || 'TCP';
  const scheme = SCHEMES[protocol];
  if (scheme === undefined) {
    variables.findings.lose(sampler.line, sampler.what, `protocol ${protocol}; mqtt:// is taken`);
  }
  const server = constantPart(sampler, { key: 'mqtt.server', fallback: '127.0.0.1' }, variables);
  const port = constantPart(sampler, { key: 'mqtt.port', fallback: '1883' }, variables);
  const web = scheme === 'ws' || scheme === 'wss';
  const path = web
    ? variables.template(sampler.text('mqtt.ws_path'), 'client', sampler).trim()
    : '';
  const slash = path === '' || path.startsWith('/') ? '' : '/';
  return {
    protocol: 'mqtt',
    urls: [`${scheme ?? 'mqtt'}://${server}:${port}${slash}${path}`],
    version: versionOf(sampler, variables),
    ...(protocol === 'SSL' || protocol === 'WSS' ? { tls: tlsOf(sampler, variables) } : {}),
  };
}

/** An address may be a variable of the plan, not one of each client. */
function constantPart(
  sampler: JmeterElement,
  { key, fallback }: { readonly key: string; readonly fallback: string },
  variables: Variables,
): string {
  const text = sampler.text(key).trim();
  if (text === '') return fallback;
  if (variables.constant(text) === null) {
    variables.findings.lose(
      sampler.line,
      sampler.what,
      `${key} is not the same for all clients; ${fallback} is taken`,
    );
    return fallback;
  }
  return variables.template(text, 'client', sampler);
}

/** The default driver since 2019 speaks 3.1.1 whatever is chosen. */
function versionOf(sampler: JmeterElement, variables: Variables): string {
  const version = (variables.constant(sampler.text('mqtt.version', '3.1')) ?? '3.1').trim();
  if (version.startsWith('5')) return '5';
  if (version !== '3.1') return '3.1.1';
  const chosen = sampler.has('mqtt.client_name');
  const client = sampler.text('mqtt.client_name').trim();
  if (!chosen || client === 'fusesource') return '3.1';
  variables.findings.change(
    sampler.line,
    sampler.what,
    'version 3.1 was chosen, and its driver spoke 3.1.1 always',
  );
  return '3.1.1';
}

function tlsOf(sampler: JmeterElement, variables: Variables): DraftMap {
  const { findings } = variables;
  findings.change(
    sampler.line,
    sampler.what,
    'mqtt-jmeter never checked the certificate of the broker: verify is false',
  );
  const certificate = variables.template(
    sampler.text('mqtt.clientcert_file_path'),
    'client',
    sampler,
  );
  if (!sampler.flag('mqtt.dual_ssl_authentication') || certificate === '') return { verify: false };
  const base = besidePlan(certificate).replace(/\.(p12|pfx|jks)$/i, '');
  findings.change(
    sampler.line,
    sampler.what,
    `its client certificate must become PEM: openssl pkcs12 -in ${base}.p12 -nodes -out ${base}.pem, key into ${base}.key.pem`,
  );
  return { verify: false, cert: `${base}.pem`, key: `${base}.key.pem` };
}

/** A file of the plan: its place on somebody's disk is left out. */
export function besidePlan(file: string): string {
  const plain = file.replaceAll('\\', '/').trim();
  const leaves =
    plain.startsWith('/') || /^[A-Za-z]:/.test(plain) || plain.split('/').includes('..');
  return leaves ? (plain.split('/').at(-1) ?? plain) : plain;
}

/** Keep-alive, time-out, session and attempts. @param over how long all clients take to connect. */
export function connectOf(sampler: JmeterElement, over: string, variables: Variables): DraftMap {
  const seconds = (key: string, fallback: number) =>
    `${variables.numberText(sampler.text(key), fallback, sampler).text}s`;
  const clean = (
    variables.constant(sampler.text('mqtt.conn_clean_session', 'true')) ?? 'true'
  ).trim();
  const expiry = sampler.text('mqtt.conn_session_expiry_interval').trim();
  return {
    over,
    keepAlive: seconds('mqtt.conn_keep_alive', 300),
    timeout: seconds('mqtt.conn_timeout', 10),
    retries: retriesOf(sampler, variables),
    cleanStart: clean.toLowerCase() !== 'false',
    ...(expiry === '' || versionOf(sampler, variables) !== '5'
      ? {}
      : { sessionExpiry: seconds('mqtt.conn_session_expiry_interval', 0) }),
  };
}

/** Both spellings occur, even in one element. */
function retriesOf(sampler: JmeterElement, variables: Variables): number {
  const [right, old] = ['mqtt.conn_attempt_max', 'mqtt.conn_attampt_max'];
  if (sampler.has(right) && sampler.has(old) && sampler.text(right) !== sampler.text(old)) {
    variables.findings.change(
      sampler.line,
      sampler.what,
      `${right} and ${old} differ: the first is taken`,
    );
  }
  const attempts = variables.number(sampler.text(right, sampler.text(old)), 0, sampler);
  if (attempts >= 0) return Math.min(attempts, ENDLESS_RETRIES);
  variables.findings.change(
    sampler.line,
    sampler.what,
    `endless attempts to connect are ${ENDLESS_RETRIES}`,
  );
  return ENDLESS_RETRIES;
}

/** Client id, user name and password. */
export function identityOf(
  sampler: JmeterElement,
  clients: number,
  variables: Variables,
): { clientId: string; username?: string; password?: string } {
  const user = sampler.text('mqtt.user_name');
  const password = sampler.text('mqtt.password');
  return {
    clientId: clientIdOf(sampler, clients, variables),
    ...(user.trim() === '' ? {} : { username: variables.template(user, 'client', sampler) }),
    ...(user.trim() === '' || password.trim() === ''
      ? {}
      : { password: variables.secret(password, 'MQTT_PASSWORD', sampler) }),
  };
}

function clientIdOf(sampler: JmeterElement, clients: number, variables: Variables): string {
  const fallback: Readonly<Record<string, string>> = { PubSampler: 'pub_', SubSampler: 'sub_' };
  const text = sampler.text('mqtt.client_id_prefix', fallback[sampler.kind] ?? 'conn_');
  const prefix = variables.template(text, 'client', sampler);
  if (sampler.flag('mqtt.client_id_suffix', true)) return `${prefix}{{n:06}}`;
  if (/\{\{(n|csv\.|uuid)/.test(prefix) || clients === 1) return prefix;
  if (sampler.kind === 'EfficientConnectSampler') return `${prefix}-xmeter-suffix-{{n}}`;
  variables.findings.change(
    sampler.line,
    sampler.what,
    'all threads had the same client id, and drove each other out; here each has its own',
  );
  return `${prefix}-{{n}}`;
}
