const OCTET = '(25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const V4 = new RegExp(`^(${OCTET}\\.){3}${OCTET}$`);

/** Whether a text is an IPv4 or IPv6 address, the latter with or without a zone. */
export function isIpAddress(text: string): boolean {
  if (V4.test(text)) return true;
  const [address = '', ...zone] = text.split('%');
  if (zone.length > 1 || (zone.length === 1 && !/^[\w.-]+$/.test(zone[0] ?? ''))) return false;
  return isV6(address);
}

/** Eight groups of up to four digits, the last two also as IPv4, one run of zeros as `::` [RFC 4291 §2.2]. */
function isV6(address: string): boolean {
  const halves = address.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const asV4 = V4.test(last);
  const hex = asV4 ? groups.slice(0, -1) : groups;
  if (!hex.every((group) => /^[\da-fA-F]{1,4}$/.test(group))) return false;
  const count = hex.length + (asV4 ? 2 : 0);
  return halves.length === 2 ? count < 8 : count === 8;
}
