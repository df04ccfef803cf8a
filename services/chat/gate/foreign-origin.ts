import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { foldAddress, isFromThisMachine, isLoopback, isProxied } from '@octavo/core';

/** Tells if a page of another site sends a request. Clients that are no browsers send no `Origin`. */
export type IsForeign = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => boolean;

/** Pages of this site, of the suite and of the origins in a setting (with commas between, or `*`) are not foreign. */
export function foreignOrigins(corsOrigin: string | undefined, sites: () => readonly string[]): IsForeign {
  const listed = new Set(corsOrigin?.split(',').map((origin) => origin.trim()));
  return (request) => {
    const { origin, host, 'sec-fetch-site': fetchSite } = request.headers;
    if (origin === undefined || listed.has('*') || listed.has(origin)) return false;
    if (sites().some((site) => URL.parse(site)?.origin === origin)) return false;
    // Browsers send it to addresses with TLS and to loopback only, which a proxy may have forwarded under another host.
    if (fetchSite === 'same-origin') return false;
    return URL.parse(origin)?.host !== host || isRebound(request);
  };
}

/**
 * Returns true if the request came to this machine under a name that others own. A browser takes such a page for our own site (DNS
 * rebinding). What a proxy passed on has a trace of it.
 */
function isRebound({ headers, socket }: Parameters<IsForeign>[0]): boolean {
  const name = URL.parse(`http://${headers.host}`)?.hostname ?? '';
  const isOwned =
    name.includes('.') && isIP(name) === 0 && !isProxied(headers) && !isFromThisMachine(headers);
  return isOwned && isLoopback(foldAddress(socket.localAddress ?? ''));
}
