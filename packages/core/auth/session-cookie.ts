import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
import { randomBytes } from '../base/random.ts';

/** A cookie whose value only we can read or create. The server needs `@fastify/cookie`. */
export interface SessionCookie<T> {
  /** The value in the request; `undefined` if there is none, it is too old, or it is not ours. */
  read(request: FastifyRequest): T | undefined;
  /** Sends the value with the reply. The browser keeps it for the cookie's age. */
  write(reply: FastifyReply, value: T): void;
  /** Tells the browser to delete the cookie. */
  clear(reply: FastifyReply): void;
}

export interface SessionCookieOptions {
  /** Different for each service, because browsers share cookies between the ports of a host. */
  readonly name: string;
  /** Secret of at least 32 bytes; the key is derived from it and the name (HKDF-SHA-256, RFC 5869). */
  readonly secret: string;
  readonly maxAgeSeconds: number;
  readonly clock: Clock;
  /** `lax` if links on other sites find the visitor signed in; `strict` by default. */
  readonly sameSite?: 'strict' | 'lax';
  /** The site is known to be HTTPS, also where a proxy does not say so with each request. */
  readonly isSecure?: boolean;
}

/**
 * A cookie encrypted with AES-256-GCM: `HttpOnly`, `SameSite=Strict` by default, and over HTTPS `Secure` with a `__Host-` name (RFC
 * 6265bis). The value must survive JSON and stay well under the 4 kB that browsers keep.
 */
export function createSessionCookie<T>(options: SessionCookieOptions): SessionCookie<T> {
  const { name, clock, maxAgeSeconds, sameSite = 'strict', isSecure = false } = options;
  const cookieAttributes: CookieSerializeOptions = {
    path: '/',
    httpOnly: true,
    sameSite,
    // For HTTPS.
    secure: isSecure || 'auto',
  };
  const nameFor = ({ protocol }: FastifyRequest) =>
    isSecure || protocol === 'https' ? `__Host-${name}` : name;
  const key = Buffer.from(hkdfSync('sha256', options.secret, '', `session-cookie ${name}`, 32));
  return {
    read(request) {
      const encrypted = request.cookies[nameFor(request)];
      const text = encrypted && decrypt(key, encrypted);
      if (!text) return undefined;
      const { value, expiresMs } = JSON.parse(text) as { value: T; expiresMs: number };
      return clock.now() < expiresMs ? value : undefined;
    },
    write(reply, value) {
      const text = JSON.stringify({ value, expiresMs: clock.now() + maxAgeSeconds * 1000 });
      const attributes = { ...cookieAttributes, maxAge: maxAgeSeconds };
      reply.setCookie(nameFor(reply.request), encrypt(key, text), attributes);
    },
    clear(reply) {
      reply.setCookie(nameFor(reply.request), '', { ...cookieAttributes, maxAge: 0 });
    },
  };
}

function encrypt(key: Buffer, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url');
}

function decrypt(key: Buffer, encrypted: string): string | undefined {
  const bytes = Buffer.from(encrypted, 'base64url');
  if (bytes.length < 28) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
  } catch {
    // Not encrypted by us, or modified.
    return undefined;
  }
}
