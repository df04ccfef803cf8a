import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Identities } from './identities.ts';
import type { Provider } from './provider.ts';
import {
  askableSession,
  claimIdentity,
  claimRevocation,
  deleteRevocation,
  deleteSession,
  dueIdentities,
  dueRevocations,
  type IdentityRow,
  keepGrant,
  type OidcTables,
  type RevocationRow,
  sweepAttempts,
  sweepSessions,
} from './store.ts';

const everyMs = 30_000;
/** Interval of asking the provider for roles, so that one that was taken away ends in less than 10 minutes. */
const askMs = 4 * 60_000;
/** Time after which roles end where the provider cannot be asked again. */
const unaskedMs = 8 * 60_000;
/** Time after which roles end while the provider does not answer. */
const silentMs = 60 * 60_000;
const batchMax = 20;
const leaseMs = 30_000;
const [firstWaitMs, longestWaitMs] = [5_000, 300_000];

export interface ChecksOptions<DB extends OidcTables> {
  readonly identities: Identities<DB>;
  readonly provider: Provider;
  readonly log: Log;
}

/**
 * Asks the provider again for the roles of people who have some, ends grants of sessions that ended here, and deletes what has expired.
 * Any number of processes may do it.
 */
export class Checks<DB extends OidcTables> implements AsyncDisposable {
  readonly #options: ChecksOptions<DB>;
  readonly #timer: AsyncDisposable;
  #running: Promise<void> | undefined;

  constructor(options: ChecksOptions<DB>) {
    this.#options = options;
    this.#timer = runEvery(everyMs, () => this.run());
  }

  /** One round; the timer does it every 30 s. Errors are logged. */
  run(): Promise<void> {
    this.#running ??= this.#round()
      .catch((err) => this.#options.log.error({ err }, 'people of the OpenID provider could not be checked'))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#timer[Symbol.asyncDispose]();
    await this.#running;
  }

  async #round(): Promise<void> {
    const { database, clock } = this.#options.identities.options;
    const nowMs = clock.now();
    await sweepSessions.run(database, { nowMs });
    await sweepAttempts.run(database, { nowMs });
    for (const row of await dueRevocations.all(database, { nowMs, most: batchMax })) await this.#revoke(row);
    for (;;) {
      const due = await this.#due();
      const outcomes = await Promise.all(due.map((identity) => this.#check(identity)));
      if (due.length < batchMax || !outcomes.every(Boolean)) return;
    }
  }

  #due(): Promise<IdentityRow[]> {
    const { realm, options } = this.#options.identities;
    const { database, clock, issuer } = options;
    return dueIdentities.all(database, { realm, issuer, beforeMs: clock.now() - askMs, most: batchMax });
  }

  /** Returns false if the provider did not answer. */
  async #check(identity: IdentityRow): Promise<boolean> {
    const { identities, provider } = this.#options;
    const { database, clock, host } = identities.options;
    const { asked_at_ms: beforeMs, confirmed_at_ms: confirmedMs, subject } = identity;
    const nowMs = clock.now();
    const { changes } = await claimIdentity.run(database, { ...keyOf(identity), beforeMs, nowMs });
    if (changes === 0) return true;
    const session = await askableSession.first(database, { ...keyOf(identity), nowMs });
    const token = session?.refresh_token && identities.decrypted(session.key, session.refresh_token);
    if (!session || !token) {
      if (nowMs - confirmedMs >= unaskedMs) await identities.confirm(identity, []);
      return true;
    }
    try {
      const found = await provider.refresh(token, subject);
      if (found === 'ended') {
        await host.end([session.key]);
        await deleteSession.run(database, { key: session.key });
        // Another session of the person may still be asked.
        await this.#askAgain(identity, nowMs, 0);
        return true;
      }
      const idToken = found.grant.idToken ?? identities.decrypted(session.key, session.id_token) ?? '';
      const refreshToken = found.grant.refreshToken ?? token;
      await keepGrant.run(database, {
        key: session.key,
        ...identities.encrypted(session.key, { idToken, refreshToken }),
      });
      await identities.confirm(identity, found.roles);
      return true;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
      if (nowMs - confirmedMs >= silentMs) await identities.confirm(identity, []);
      else await this.#askAgain(identity, nowMs, everyMs);
      return false;
    }
  }

  async #askAgain(identity: IdentityRow, claimedMs: number, waitMs: number): Promise<void> {
    const { database } = this.#options.identities.options;
    const nowMs = claimedMs - askMs + waitMs;
    await claimIdentity.run(database, { ...keyOf(identity), beforeMs: claimedMs, nowMs });
  }

  async #revoke({ id, token, tries, next_try_at_ms: dueMs, expires_at_ms: endsMs }: RevocationRow) {
    const { identities, provider, log } = this.#options;
    const { database, clock } = identities.options;
    const nextMs = clock.now() + leaseMs + Math.min(firstWaitMs * 2 ** tries, longestWaitMs);
    const { changes } = await claimRevocation.run(database, { id, dueMs, tries: tries + 1, nextMs });
    if (changes === 0) return;
    try {
      const text = identities.encryption.decryptText(token, `oidc_revocation ${id}`);
      if (text !== undefined) await provider.revoke(text);
    } catch (err) {
      if (err instanceof AppError && err.code === 'unavailable' && nextMs < endsMs) return;
      log.warn({ err }, 'a grant was not ended at the OpenID provider');
    }
    await deleteRevocation.run(database, { id });
  }
}

function keyOf({ realm, issuer, subject }: IdentityRow) {
  return { realm, issuer, subject };
}
