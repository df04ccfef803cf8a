import { hkdfSync } from 'node:crypto';
import { Signer } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface SignedCookieOptions {
  readonly name: string;
  /** Secret of at least 32 bytes; the key is derived from it and the name (HKDF-SHA-256). */
  readonly secret: string;
  readonly maxAgeSeconds: number;
}

/** A cookie whose value visitors can read but not change: HMAC-SHA-256, `HttpOnly`, `SameSite=Lax`. The server needs `@fastify/cookie`. */
export class SignedCookie {
  readonly #options: SignedCookieOptions;
  readonly #signer: Signer;

  constructor(options: SignedCookieOptions) {
    this.#options = options;
    const key = hkdfSync('sha256', options.secret, '', `signed-cookie ${options.name}`, 32);
    this.#signer = new Signer(Buffer.from(key).toString('base64url'));
  }

  /** The value in the request; undefined if there is none that we signed. */
  read(request: Pick<FastifyRequest, 'cookies'>): string | undefined {
    const { valid, value } = this.#signer.unsign(request.cookies[this.#options.name] ?? '');
    return valid ? (value ?? undefined) : undefined;
  }

  /** Sends the value for addresses under each path. */
  write(reply: FastifyReply, value: string, paths: readonly string[] = ['/']): void {
    const { name, maxAgeSeconds: maxAge } = this.#options;
    const signed = this.#signer.sign(value);
    for (const path of paths) {
      reply.setCookie(name, signed, { path, maxAge, httpOnly: true, sameSite: 'lax', secure: 'auto' });
    }
  }

  /** Removes the cookie of addresses under `/`. */
  clear(reply: FastifyReply): void {
    reply.clearCookie(this.#options.name, { path: '/' });
  }
}
