import { isIPv4, isIPv6 } from 'node:net';

/**
 * Whose address that is: an IPv4 address as it is, also inside IPv6; of an IPv6 address the first 64 bits, since
 * whoever has one has all the others of that network. Any other text as it is.
 */
export function networkOf(address: string): string {
  const plain = foldAddress(address.replace(/%.*$/, ''));
  return isIPv6(plain) ? groupsOf(plain).slice(0, 4).join(':') : plain;
}

/** An IPv4 address mapped into IPv6, in whichever spelling (RFC 4291 section 2.5.5.2), as IPv4; any other as it is. */
export function foldAddress(address: string): string {
  if (!isIPv6(address) || address.includes('%')) return address;
  const [high = '', low = '', ...before] = groupsOf(address).reverse();
  if (before.join(':') !== 'ffff:0:0:0:0:0') return address;
  const bytes = [low, high].flatMap((group) => [parseInt(group, 16) >>> 8, parseInt(group, 16) & 255]);
  return bytes.join('.');
}

/** Whether a host is this machine alone: `localhost`, 127.0.0.0/8 or ::1. A name is not looked up. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** The eight groups, written in one way only, as the URL standard does. */
function groupsOf(address: string): string[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  return [...before, ...new Array<string>(8 - before.length - after.length).fill('0'), ...after];
}
