import { ResponseCode, responseName } from '../codec/response-code.ts';
import { Outcome } from './producer-handlers.ts';

/** What flow control calls itself; each is another place in the broker where it is too slow. */
const BUSY_PREFIXES = [
  '[REJECTREQUEST]',
  '[OVERLOAD]',
  '[TIMEOUT_CLEAN_QUEUE]',
  '[PCBUSY_CLEAN_QUEUE]',
  '[PC_SYNCHRONIZED]',
];

/** What ACL 1.0 says inside code 1, and ACL 2.0 inside code 16. */
const ACL_TEXTS: readonly [pattern: RegExp, reason: string][] = [
  [/check signature failed/i, 'signature refused (wrong secret key)'],
  [/No acl config for|is not found/i, 'access key not known'],
  [/No accessKey is configured|username cannot be null/i, 'no access key given'],
  [/is disabled/i, 'user disabled'],
  [/Need admin permission/i, 'administrator needed'],
  [
    /No default permission|has no permission|no matched policies|the decision is deny/i,
    'no permission',
  ],
];

const OTHER_TEXTS: readonly [pattern: RegExp, reason: string][] = [
  [/message (body )?size exceeded/i, 'message too large'],
  [/queueId.{0,12}illegal/i, 'queue does not exist'],
];

/**
 * Why a broker refused, from a fixed set, so that it can be counted: the code's name, and what its
 * remark says where one code stands for many things.
 */
export function refusalReason(code: number, remark: string): string {
  const name = responseName(code);
  const busy = BUSY_PREFIXES.find((prefix) => remark.includes(prefix));
  if (busy !== undefined) return `${name} ${busy}`;
  if (code === ResponseCode.serviceNotAvailable) {
    return remark.includes('CL:') ? `${name}: disk full or a slave` : name;
  }
  const special = code === ResponseCode.systemError || code === ResponseCode.noPermission;
  if (!special) return name;
  const found = [...ACL_TEXTS, ...OTHER_TEXTS].find(([pattern]) => pattern.test(remark));
  return found === undefined ? name : `${name}: ${found[1]}`;
}

/** The class of an answer that is no success. */
export function refusalOutcome(code: number, reason: string): Outcome {
  if (code === ResponseCode.flushDiskTimeout) return Outcome.flushDiskTimeout;
  if (code === ResponseCode.slaveNotAvailable) return Outcome.slaveNotAvailable;
  if (code === ResponseCode.flushSlaveTimeout) return Outcome.flushSlaveTimeout;
  if (code === ResponseCode.systemBusy || reason.includes('[PC_SYNCHRONIZED]')) return Outcome.busy;
  return Outcome.refused;
}
