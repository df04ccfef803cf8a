import type { FastifyReply, FastifyRequest } from 'fastify';

/** The value of a cookie in a `Cookie` header, as sent; the first where it is there twice (RFC 6265bis section 5.8.3). */
export function readCookie(request: FastifyRequest, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

export interface CookieOptions {
  readonly sameSite: 'Strict' | 'Lax';
  /** Kept from scripts; true by default. */
  readonly httpOnly?: boolean;
  /** 0 makes the browser forget the cookie. */
  readonly maxAgeSeconds: number;
}

/** Sends a cookie for all paths of this host, `Secure` over HTTPS. The value must need no quoting, as base64url. */
export function writeCookie(reply: FastifyReply, name: string, value: string, options: CookieOptions): void {
  const parts = [
    `${name}=${value}`,
    'Path=/',
    `Max-Age=${options.maxAgeSeconds}`,
    `SameSite=${options.sameSite}`,
  ];
  if (options.httpOnly !== false) parts.push('HttpOnly');
  if (reply.request.protocol === 'https') parts.push('Secure');
  // Fastify adds a line for each call.
  reply.header('set-cookie', parts.join('; '));
}
