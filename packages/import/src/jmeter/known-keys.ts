import type { Findings } from '../findings.ts';
import type { JmeterElement } from './element.ts';

/** Keys that are read, or mean nothing beyond the plugin: what it shows, and stores that it never used. */
const KNOWN = new Set(
  `server port version protocol ws_path client_name dual_ssl_authentication keystore_file_path keystore_password
  clientcert_file_path clientcert_password user_name password client_id_prefix client_id_suffix conn_keep_alive
  conn_timeout conn_attampt_max conn_attempt_max reconn_attampt_max reconn_attempt_max conn_clean_session conn_share
  keep_time conn_capacity sub_when_connected topic_name qos_level retained_message add_timestamp message_type
  message_type_fixed_length message_to_sent debug_response sample_condition sample_condition_value
  sample_condition_value_opt sub_async connect_name conn_session_expiry_interval`.split(/\s+/),
);

/** Names what forks and later versions say with keys of their own, unless it is empty or off. */
export function tellUnknownKeys(sampler: JmeterElement, findings: Findings): void {
  const unknown = sampler.names.filter((name) => {
    const value = sampler.text(name).trim();
    const said = value !== '' && value !== 'false';
    return name.startsWith('mqtt.') && !KNOWN.has(name.slice('mqtt.'.length)) && said;
  });
  if (unknown.length > 0)
    findings.lose(sampler.line, sampler.what, `the setting ${unknown.join(', ')}`);
}
