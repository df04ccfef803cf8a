import { createHash } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { createSessionCookie, type SessionCookie } from '@octavo/core/auth';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Attempt } from './provider.ts';

/** An attempt with what this service does when it is back. */
export interface KeptAttempt extends Attempt {
  /** Own path to open afterwards. */
  readonly next: string;
  /** The account to connect; undefined for a sign-in. */
  readonly connects?: string | undefined;
  /** True if the provider may ask nothing: without a sign-in there, the visitor stays a stranger here. */
  readonly isQuiet?: boolean | undefined;
  /** The account and the action to confirm; undefined for a sign-in. */
  readonly confirms?: { readonly account: string; readonly action: string } | undefined;
  readonly begunMs: number;
}

export interface AttemptsOptions {
  /** The service's name in lower case. */
  readonly name: string;
  /** Secret of at least 32 bytes. */
  readonly secret: string;
  readonly clock: Clock;
}

const maxAgeSeconds = 600;
/**
 * Cookies of all attempts of a service. Seven services on one host share their cookies, and the headers of a request are 16 kB at most, so
 * that all attempts together may have 8 kB.
 */
const bytesMax = 1_150;
/** Bytes of a cookie's value beside its content, before base64: nonce, tag, expiry and what is around them. */
const overheadBytes = 80;
/** Bytes of a cookie's name beside the service's: `__Host-`, the id and separators. */
const nameBytes = 26;

/** Attempts to sign in, each in a cookie of 10 minutes that only this service can read, so that tabs do not disturb each other. */
export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #prefix: string;

  constructor(options: AttemptsOptions) {
    this.#options = options;
    this.#prefix = `${options.name}_oidc_`;
  }

  /** Keeps an attempt under the state that its callback will have. The oldest ones give way to it. */
  keep(reply: FastifyReply, state: string, attempt: KeptAttempt): void {
    const bytes = Math.ceil((JSON.stringify(attempt).length + overheadBytes) * (4 / 3));
    this.#drop(reply, bytesMax - bytes - this.#prefix.length - nameBytes);
    this.#cookie(state).write(reply, attempt);
  }

  /** The attempt that a callback names, which can be used once; undefined if this browser has none. */
  take(request: FastifyRequest, reply: FastifyReply, state: string): KeptAttempt | undefined {
    const cookie = this.#cookie(state);
    const attempt = cookie.read(request);
    if (attempt) cookie.clear(reply);
    return attempt;
  }

  /** Drops the oldest attempts until the others fit into `restBytesMax`. */
  #drop(reply: FastifyReply, restBytesMax: number): void {
    const { request } = reply;
    const kept = Object.entries(request.cookies).flatMap(([name, value = '']) => {
      const [, id] = new RegExp(`^(?:__Host-)?${this.#prefix}([\\w-]{16})$`).exec(name) ?? [];
      if (id === undefined) return [];
      const cookie = this.#cookieOf(id);
      const { begunMs = 0 } = cookie.read(request) ?? {};
      return [{ cookie, begunMs, bytes: name.length + value.length + 3 }];
    });
    kept.sort((a, b) => b.begunMs - a.begunMs);
    let bytes = 0;
    for (const { cookie, bytes: more } of kept) {
      bytes += more;
      if (bytes > restBytesMax) cookie.clear(reply);
    }
  }

  #cookie(state: string): SessionCookie<KeptAttempt> {
    return this.#cookieOf(createHash('sha256').update(state).digest('base64url').slice(0, 16));
  }

  #cookieOf(id: string): SessionCookie<KeptAttempt> {
    const { secret, clock } = this.#options;
    return createSessionCookie({
      name: `${this.#prefix}${id}`,
      secret,
      clock,
      maxAgeSeconds,
      sameSite: 'lax',
    });
  }
}
