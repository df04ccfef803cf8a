import { isIPv4, isIPv6 } from 'node:net';
import { AppError } from './errors.ts';

/**
 * The network that counts as one client: an IPv4 address itself, also if mapped into IPv6; the first 64 bits of an IPv6 address,
 * because a client usually has a whole /64. Any other text is returned unchanged.
 */
export function networkOf(address: string): string {
  const plain = foldAddress(address.replace(/%.*$/, ''));
  return isIPv6(plain) ? groupsOf(plain).slice(0, 4).join(':') : plain;
}

/** Converts an IPv4 address that is mapped into IPv6, in any spelling (RFC 4291 section 2.5.5.2), to IPv4. Returns any other text unchanged. */
export function foldAddress(address: string): string {
  if (!isIPv6(address) || address.includes('%')) return address;
  const [high = '', low = '', ...before] = groupsOf(address).reverse();
  if (before.join(':') !== 'ffff:0:0:0:0:0') return address;
  const bytes = [low, high].flatMap((group) => [parseInt(group, 16) >>> 8, parseInt(group, 16) & 255]);
  return bytes.join('.');
}

/** Returns true for a loopback address: `localhost`, 127.0.0.0/8 or ::1. Names are not looked up. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Host and port. Anything else, such as a user name, is not a host. */
const hostPattern = /^(\[[\d:.a-f]+\]|[\w.-]+)(?::\d+)?$/i;

/** Headers of a request, with names in lower case. */
type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Headers that proxies add: RFC 7239, RFC 9110 section 7.6.3, and the usual ones. */
const proxyHeader = /^(forwarded|via|x-real-ip|x-forwarded(-.*)?)$/;

/** True if a proxy has marked a request. */
export function isProxied(headers: RequestHeaders): boolean {
  return Object.keys(headers).some((name) => proxyHeader.test(name));
}

/**
 * True if the `Host` header of a request names a loopback address and no proxy has marked it. What only people at this machine may see is
 * shown to such requests alone: a page of another site can point its own name at a loopback address (DNS rebinding), and a proxy on this
 * machine may name us by one while its clients are elsewhere.
 */
export function isFromThisMachine(headers: RequestHeaders): boolean {
  if (isProxied(headers)) return false;
  const [, name = ''] = hostPattern.exec(String(headers.host ?? '')) ?? [];
  return isLoopback(name.toLowerCase().replace(/[[\]]/g, ''));
}

/** The address of a service that listens here, for browsers on this machine: all services under one name share its cookies. */
export function localOrigin(url: string): string {
  return `http://localhost:${new URL(url).port}`;
}

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EACCES: 'requires permissions that this process does not have',
  EADDRNOTAVAIL: 'cannot be used: this machine does not have that address',
  ENOTFOUND: 'cannot be used: the host does not exist',
};

/** An `unavailable` error that names host and port, or the error itself if it is not about these. Servers of gRPC have the code in their text only. */
export function listenErrorOf(error: unknown, host: string, port: number): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const [, codeInText = ''] = /\b(?:listen|bind|getaddrinfo) (E[A-Z]+)/.exec(message) ?? [];
  const unresolved = /^Name resolution failed/.test(message) ? 'ENOTFOUND' : '';
  const reason = listenProblems[code ?? ''] ?? listenProblems[codeInText || unresolved];
  if (!reason) return error;
  return new AppError('unavailable', `port ${port} on ${host} ${reason}`, {
    reason: 'ADDRESS',
    cause: error,
  });
}

/** The eight groups in the canonical spelling of the URL standard. */
function groupsOf(address: string): string[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  return [...before, ...new Array<string>(8 - before.length - after.length).fill('0'), ...after];
}
