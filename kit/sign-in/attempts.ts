import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createSessionCookie, type SessionCookie } from '../auth/session-cookie.ts';
import type { Clock } from '../base/clock.ts';
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
  /** At least 32 bytes. */
  readonly secret: string;
  readonly clock: Clock;
}

const maxAgeSeconds = 600;
/** More of them in one browser would be longer than the headers of a request may be. */
const attemptsMax = 6;

/** Attempts to sign in, each in a cookie of 10 minutes that only this service can read, so that tabs do not disturb each other. */
export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #prefix: string;

  constructor(options: AttemptsOptions) {
    this.#options = options;
    this.#prefix = `${options.name}_oidc_`;
  }

  keep(reply: FastifyReply, attempt: KeptAttempt): void {
    this.#drop(reply);
    this.#cookie(attempt.state).write(reply, attempt);
  }

  /** The attempt that a callback names, which can be used once; undefined if this browser has none. */
  take(request: FastifyRequest, reply: FastifyReply, state: string): KeptAttempt | undefined {
    const cookie = this.#cookie(state);
    const attempt = cookie.read(request);
    if (attempt) cookie.clear(reply);
    return attempt?.state === state ? attempt : undefined;
  }

  /** Drops the oldest attempts if there are too many. */
  #drop(reply: FastifyReply): void {
    const { request } = reply;
    const kept = Object.keys(request.cookies).flatMap((name) => {
      const [, id] = new RegExp(`^(?:__Host-)?${this.#prefix}([\\w-]+)$`).exec(name) ?? [];
      return id === undefined ? [] : [{ cookie: this.#cookieOf(id) }];
    });
    const dated = kept.map(({ cookie }) => ({ cookie, begunMs: cookie.read(request)?.begunMs ?? 0 }));
    dated.sort((a, b) => b.begunMs - a.begunMs);
    for (const { cookie } of dated.slice(attemptsMax - 1)) cookie.clear(reply);
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
