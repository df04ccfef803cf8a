import type { AppError, Clock } from '@octavo/core';
import type { Encryption, Visitor } from '@octavo/core/auth';
import { matchingTotpStep, normalizeEmail, totpSecretBytes } from '@octavo/core/auth';
import type { Database, WriteSession } from '@octavo/data';
import type { Audit } from '../audit.ts';
import { authErrors } from '../errors.ts';
import type { MailQueue } from '../mail/index.ts';
import type { Sessions, TokenPair } from '../sessions/index.ts';
import type { Tables } from '../store/store.ts';
import {
  clearFailures,
  countFailure,
  findUser,
  lockAddress,
  proveFirstFactor,
  secondsBlocked,
  type User,
} from '../users/index.ts';
import {
  clearMisses,
  confirmPending,
  countMisses,
  deleteActive,
  secretsOf,
  type TotpCandidate,
  useStep,
} from './store.ts';

interface TotpSignInsOptions {
  readonly database: Database<Tables>;
  readonly sessions: Sessions;
  readonly mails: MailQueue;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly encryption: Encryption;
}

interface Given {
  readonly email: string;
  readonly code: string;
  /** The address of the client. */
  readonly address: string;
  readonly nowMs: number;
}

/** A secret whose code it is, and the step of the code. */
interface Match {
  readonly candidate: TotpCandidate;
  readonly step: number;
}

/** Seconds for which the counters of the address block codes: see `FailureCounter`. */
interface Blocked {
  readonly owner: number;
  readonly everybody: number;
}

type Session = WriteSession<Tables>;

/** Number of secrets a code is compared with: two of the owner, and two of each of three other users. */
const comparedMax = 8;
const othersMax = 3;
/** Consecutive wrong codes after which none is accepted until a sign-in by link or passkey (NIST SP 800-63B section 3.2.2). */
const missesMax = 100;
/** Time for which a pending secret can be confirmed, by the presence of a token. */
const pendingMs = { bearer: 15 * 60_000, open: 24 * 3_600_000 } as const;

/** Signing in with a code of an authenticator app. The first code completes the setup of the app. */
export class TotpSignIns {
  readonly #options: TotpSignInsOptions;

  constructor(options: TotpSignInsOptions) {
    this.#options = options;
  }

  /** Throws INVALID_CODE, for any reason, or RATE_LIMITED. */
  async verify(
    { email: typed, code }: { email: string; code: string },
    visitor: Visitor,
  ): Promise<TokenPair> {
    const { database, sessions, audit, clock, mails } = this.#options;
    const email = normalizeEmail(typed);
    if (email === undefined) throw authErrors.invalidCode();
    const { address } = visitor;
    const given = { email, code, address, nowMs: clock.now() };
    // The count of wrong codes must be committed although the request fails.
    const result = await database.write(async (session): Promise<TokenPair | AppError> => {
      await lockAddress(session, email);
      const blocked = {
        owner: await secondsBlocked(session, 'owner', given),
        everybody: await secondsBlocked(session, 'everybody', given),
      };
      const user = await this.#findUser(session, given, blocked);
      if (user) return sessions.open(session, { user, amr: ['otp'], visitor });
      await audit.record(session, 'authn_login_fail', { address });
      return blocked.everybody > 0 ? authErrors.rateLimited(blocked.everybody) : authErrors.invalidCode();
    });
    mails.wakeWorkers();
    if (result instanceof Error) throw result;
    return result;
  }

  /** The user whose code it is, whose counters are cleared. Without one, the counters of all whom it could have been are raised. */
  async #findUser(session: Session, given: Given, blocked: Blocked): Promise<User | undefined> {
    const candidates = relevant(await secretsOf(session, given.email), given.nowMs);
    const matches = this.#compare(candidates, given);
    const id = await this.#winnerOf(session, matches, given, blocked);
    const user = id === undefined ? undefined : await findUser(session, id);
    if (user) {
      await clearMisses(session, user.id);
      await clearFailures(session, user, given.address);
      return user;
    }
    // A code that was used already, or is a stranger's, is no guess at the owner's. One that the counters block looks like a wrong one.
    const isGuess = matches.every(({ candidate: each }) => each.verified === 1 && !isOpen(each, blocked));
    const compared = candidates.filter((candidate) => isOpen(candidate, blocked));
    if (isGuess) await this.#countGuess(session, compared, given, blocked);
    return undefined;
  }

  /**
   * Returns the user of an accepted code. One that matches secrets of two users is accepted for neither, now or later:
   * otherwise a stranger with a user at the address could guess at the owner's codes with each right code of their own, which
   * is not counted.
   */
  async #winnerOf(
    session: Session,
    matches: readonly Match[],
    given: Given,
    blocked: Blocked,
  ): Promise<string | undefined> {
    const ids = new Set(matches.map(({ candidate }) => candidate.user_id));
    for (const { candidate, step } of matches) {
      const { user_id: userId, state } = candidate;
      if (ids.size > 1 && state === 'active') await useStep(session, userId, step);
      if (ids.size > 1 || !isOpen(candidate, blocked)) continue;
      if (await this.#accept(session, candidate, step, given)) return userId;
    }
    return undefined;
  }

  /** The secrets whose code it is. The work is always the same, however many candidates there are. */
  #compare(candidates: readonly TotpCandidate[], { code, nowMs }: Given): Match[] {
    const { encryption } = this.#options;
    const dummy = encryption.encrypt(Buffer.alloc(totpSecretBytes).toString('base64url'), 'nobody');
    return Array.from({ length: comparedMax }, (_, index): Match[] => {
      const candidate = candidates[index];
      const secret = candidate
        ? encryption.decryptText(candidate.secret, candidate.user_id)
        : encryption.decryptText(dummy, 'nobody');
      const step = matchingTotpStep(Buffer.from(secret ?? '', 'base64url'), code, nowMs);
      return candidate && secret !== undefined && step !== undefined ? [{ candidate, step }] : [];
    }).flat();
  }

  /** Returns true if the code is accepted. An active secret accepts each step once; a pending one becomes active. */
  async #accept(session: Session, candidate: TotpCandidate, step: number, given: Given): Promise<boolean> {
    const { user_id: userId, state, bearer } = candidate;
    if (state === 'active') return (await useStep(session, userId, step)).numUpdatedRows === 1n;
    const user = await findUser(session, userId);
    if (!user) return false;
    const { nowMs } = given;
    if (bearer === 0 && !(await proveFirstFactor(session, { user, kind: 'totp', nowMs }))) return false;
    await deleteActive(session, userId);
    await confirmPending(session, userId, step);
    await this.#announce(session, user, given);
    return true;
  }

  /** Counts as much at an unused address, so that it takes as long. */
  async #countGuess(
    session: Session,
    compared: readonly TotpCandidate[],
    given: Given,
    blocked: Blocked,
  ): Promise<void> {
    const { audit, mails } = this.#options;
    const isGuessAtOwner = compared.some(({ verified }) => verified === 1);
    if (blocked.everybody === 0) await countFailure(session, 'everybody', given);
    if (isGuessAtOwner) await countFailure(session, 'owner', given);
    else if (blocked.everybody === 0) await countFailure(session, 'nobody', given);
    const ids = compared.filter(({ state }) => state === 'active').map(({ user_id: id }) => id);
    for (const { id, email, verified } of await countMisses(session, ids, missesMax)) {
      await audit.record(session, 'authn_login_lock', { userId: id, address: given.address });
      if (verified === 1)
        await mails.enqueue(session, { kind: 'security', event: 'totp-blocked', to: email });
    }
  }

  async #announce(session: Session, user: User, { address }: Given): Promise<void> {
    const { audit, mails } = this.#options;
    await audit.record(session, 'totp_added', { userId: user.id, address });
    if (user.isVerified)
      await mails.enqueue(session, { kind: 'security', event: 'totp-added', to: user.email });
  }
}

/** Returns true if a code of the secret can sign in now. */
function isOpen({ verified, state, totp_failures: misses }: TotpCandidate, blocked: Blocked): boolean {
  const isBlocked = (verified === 1 ? blocked.owner : blocked.everybody) > 0;
  return !isBlocked && (state === 'pending' || misses < missesMax);
}

/** The secrets that a code is compared with: those of the owner and of three other users. */
function relevant(candidates: readonly TotpCandidate[], nowMs: number): TotpCandidate[] {
  const inTime = candidates.filter(
    ({ state, bearer, created_at_ms: createdMs }) =>
      state === 'active' || nowMs - createdMs < (bearer === 1 ? pendingMs.bearer : pendingMs.open),
  );
  const owners = inTime.filter(
    ({ verified, bearer, state }) => verified === 1 && (state === 'active' || bearer === 1),
  );
  const others = inTime.filter(({ verified }) => verified === 0);
  const ids = [...new Set(others.map(({ user_id: id }) => id))].slice(0, othersMax);
  return [...owners, ...others.filter(({ user_id: id }) => ids.includes(id))];
}
