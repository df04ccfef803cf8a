import type { Clock } from '@octavo/core';
import { AppError, newSecret } from '@octavo/core';
import { createSessionCookie, type SessionCookie } from '@octavo/core/auth';
import type { Visit } from '@octavo/web/pages';
import type { FastifyReply } from 'fastify';
import type { KeptAttempt } from '../attempts.ts';
import type { Finished } from '../provider.ts';
import type { SignInRealm } from '../realm.ts';

/** One action of one account, which its person confirms in one session of this service. */
interface Confirmed {
  readonly account: string;
  readonly key: string;
  readonly action: string;
}

export interface ConfirmationsOptions<T> {
  /** The service's name in lower case, for the cookie. */
  readonly name: string;
  /** Encrypts the cookie; at least 32 bytes. */
  readonly secret: string;
  readonly clock: Clock;
  /** The provider's name on pages. */
  readonly providerName: string;
  realmOf(path: string): SignInRealm<T>;
  /** Leads to the provider and, from the callback, on to `next`. */
  go(visit: Visit<T>, kept: Pick<KeptAttempt, 'next' | 'confirms'>): Promise<FastifyReply>;
}

/** Age below the 10 minutes for which used ones are remembered. */
const maxAgeSeconds = 300;
/** Times in tokens are whole seconds, and issuing one takes a moment. */
const leewayMs = 5_000;

/**
 * Fresh sign-ins at the provider that take the place of a password which an account does not have: each for one account, one session and
 * one action, once, for 5 minutes.
 */
export class Confirmations<T> {
  readonly #options: ConfirmationsOptions<T>;
  readonly #cookie: SessionCookie<Confirmed & { readonly id: string }>;

  constructor(options: ConfirmationsOptions<T>) {
    const { name, secret, clock } = options;
    this.#options = options;
    this.#cookie = createSessionCookie({
      name: `${name}_confirmed`,
      secret,
      clock,
      maxAgeSeconds,
      sameSite: 'lax',
    });
  }

  /** Leads to the provider, where the person of the account that is signed in must sign in again, and back to `next`. */
  async begin(visit: Visit<T>, { action, next }: { action: string; next: string }): Promise<FastifyReply> {
    const here = await this.#options.realmOf(next).signedIn(visit);
    if (!here) throw new AppError('unauthenticated', 'Sign in to confirm that it is you.');
    return this.#options.go(visit, { next, confirms: { account: here.account, action } });
  }

  /** Ends the callback. The person must be that of the account, and have signed in since the attempt began, whatever its address asked for. */
  async finish(
    visit: Visit<T>,
    { next, begunMs, confirms }: KeptAttempt,
    { person, authenticatedAgoMs = Number.POSITIVE_INFINITY }: Finished,
  ): Promise<FastifyReply> {
    const { realmOf, providerName, clock } = this.#options;
    const { people, signedIn } = realmOf(next);
    const here = await signedIn(visit);
    if (!confirms || here?.account !== confirms.account)
      throw new AppError('unauthenticated', 'You are not signed in as the account that you began with.');
    if ((await people.subjectOf(here.account)) !== person.subject)
      throw new AppError('forbidden', `You signed in with ${providerName} as another person.`);
    // Both times of the provider are by its own clock, and both of ours by this one, so that they need not agree.
    if (authenticatedAgoMs > clock.now() - begunMs + leewayMs)
      throw new AppError('forbidden', `${providerName} did not ask you to sign in again.`);
    const { account, action } = confirms;
    this.#cookie.write(visit.reply, { account, action, key: here.key, id: newSecret(16) });
    return visit.redirect(next);
  }

  /** True if this browser has a confirmation of the action for who is signed in. It may have been used. */
  async has(visit: Visit<T>, action: string): Promise<boolean> {
    return (await this.#idOf(visit, action)) !== undefined;
  }

  /** Uses the confirmation of an action up. Returns false if there is none, or it was used before. */
  async take(visit: Visit<T>, action: string): Promise<boolean> {
    const id = await this.#idOf(visit, action);
    if (id === undefined) return false;
    this.#cookie.clear(visit.reply);
    return this.#options.realmOf(visit.request.url).people.useUp(`confirmed ${id}`);
  }

  async #idOf(visit: Visit<T>, action: string): Promise<string | undefined> {
    const here = await this.#options.realmOf(visit.request.url).signedIn(visit);
    const kept = this.#cookie.read(visit.request);
    const isSame = here && kept?.account === here.account && kept.key === here.key && kept.action === action;
    return isSame ? kept.id : undefined;
  }
}
