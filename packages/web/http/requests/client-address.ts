import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Setting } from '@octavo/core';
import { foldAddress } from '@octavo/core';
import type { FastifyRequest } from 'fastify';

/** Decides if the proxy at an address, `hop` steps away from this server, may name its client. */
export type TrustedProxy = (address: string, hop: number) => boolean;

/**
 * Parses which proxies may name the client in `X-Forwarded-For`: a number of hops (`1`), or addresses and networks (`10.0.0.0/8,
 * ::1`). None if absent or empty. Throws an `Error` with a plain message for anything else.
 */
export function parseTrustedProxies(text: string | undefined): TrustedProxy | undefined {
  if (!text) return undefined;
  if (/^\d+$/.test(text)) {
    const hops = Number(text);
    return (_address, hop) => hop < hops;
  }
  const networks = new BlockList();
  for (const entry of text.split(',')) addNetwork(networks, entry.trim());
  return (address) => {
    const folded = foldAddress(address);
    return isIP(folded) !== 0 && networks.check(folded, isIPv6(folded) ? 'ipv6' : 'ipv4');
  };
}

/** The setting `TRUST_PROXY`, parsed by {@link parseTrustedProxies}. */
export const trustProxySetting: Setting<TrustedProxy | undefined> = {
  kind: 'text',
  help: 'Proxies whose X-Forwarded-For counts: a number of hops, or addresses and networks separated by commas',
  default: undefined,
  secret: false,
  requiredInProduction: false,
  parse: parseTrustedProxies,
};

/**
 * The address of the client: that of the connection or, behind trusted proxies, the last one in `X-Forwarded-For` that is not a
 * trusted proxy. An IPv4 address that is mapped into IPv6 is returned as IPv4.
 */
export function clientAddress(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  const address = foldAddress(request.ip);
  return isIP(address) === 0 ? foldAddress(request.socket.remoteAddress ?? '') : address;
}

/** {@link clientAddress} for a request that Fastify does not see, such as one that becomes a WebSocket. */
export function addressOf(request: IncomingMessage, isTrusted: TrustedProxy | undefined): string {
  const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  const hops = forwarded.map((each) => foldAddress(each.trim())).filter((each) => isIP(each) !== 0);
  let address = foldAddress(request.socket.remoteAddress ?? '');
  for (let hop = 0; isTrusted?.(address, hop) && hops.length > 0; hop++) address = hops.pop() as string;
  return address;
}

/** Returns true if the nearest proxy is trusted and says that the client used TLS. */
export function isForwardedHttps(request: IncomingMessage, isTrusted: TrustedProxy): boolean {
  const protocol = request.headers['x-forwarded-proto'];
  return protocol === 'https' && isTrusted(request.socket.remoteAddress ?? '', 0);
}

function addNetwork(networks: BlockList, entry: string): void {
  const [address = '', prefix] = entry.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  const bits = Number(prefix ?? (family === 'ipv6' ? 128 : 32));
  const isNetwork =
    isIP(address) !== 0 && Number.isInteger(bits) && bits >= 0 && bits <= (family === 'ipv6' ? 128 : 32);
  if (!isNetwork)
    throw new Error(`must be a number of hops or a list of addresses and networks, not ${entry}`);
  networks.addSubnet(address, bits, family);
}
