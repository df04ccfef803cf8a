import { normalizeEmail } from '#kit/auth/email.ts';
import { matchingTotpStep, totpSecretBytes } from '#kit/auth/totp.ts';
import type { Visitor } from '#kit/auth/visitor.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database, WriteSession } from '#kit/db/index.ts';
import type { AppError } from '#kit/errors.ts';
import type { Audit } from '../audit.ts';
import type { Encryption } from '../encryption.ts';
import { authErrors } from '../errors.ts';
import type { MailQueue } from '../mail/index.ts';
import type { Sessions, TokenPair } from '../sessions/index.ts';
import type { Tables } from '../store.ts';
import {
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
  deleteTotp,
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
  readonly visitor: Visitor;
  readonly nowMs: number;
}

type Session = WriteSession<Tables>;

/** Each code is compared with this many secrets: two of the owner, and two of each of three other users. */
const comparedMax = 8;
const othersMax = 3;
/** After this many consecutive wrong codes, none is accepted until a sign-in by link or passkey (NIST SP 800-63B section 3.2.2). */
const missesMax = 100;
/** How long a pending secret can be confirmed, by whether a token asked for it. */
const pendingMs = { bearer: 15 * 60_000, open: 24 * 3_600_000 } as const;

/** Signing in with a code of an authenticator app. The first code completes the setup of the app. */
export class TotpSignIns {
  readonly #options: TotpSignInsOptions;

  constructor(options: TotpSignInsOptions) {
    this.#options = options;
  }

  /** Throws INVALID_CODE, for any reason, or RATE_LIMITED. */
  async verify(given: { email: string; code: string }, visitor: Visitor): Promise<TokenPair> {
    const { database, audit, clock, mails } = this.#options;
    const email = normalizeEmail(given.email);
    if (email === undefined) throw authErrors.invalidCode();
    const { code } = given;
    const nowMs = clock.now();
    const attempt = { kind: 'totp', email, address: visitor.address, nowMs } as const;
    // The count of wrong codes must be committed although the request fails.
    const result = await database.write(async (session): Promise<TokenPair | AppError> => {
      await lockAddress(session, email);
      const seconds = await secondsBlocked(session, attempt);
      if (seconds > 0) return authErrors.rateLimited(seconds);
      const user = await this.#findUser(session, { email, code, visitor, nowMs });
      if (user) return this.#options.sessions.open(session, { user, amr: ['otp'], visitor });
      await countFailure(session, attempt);
      await audit.record(session, 'authn_login_fail', { address: visitor.address });
      return authErrors.invalidCode();
    });
    mails.wakeWorkers();
    if (result instanceof Error) throw result;
    return result;
  }

  /**
   * The user whose code it is. The code counts as wrong for every user it was compared with before, even if it is another user's:
   * otherwise a stranger with a user at the same address could guess at both with each of their own codes.
   */
  async #findUser(session: Session, given: Given): Promise<User | undefined> {
    const candidates = relevant(await secretsOf(session, given.email), given.nowMs);
    const steps = this.#compare(candidates, given);
    let winner: string | undefined;
    const missed = new Set<string>();
    for (const [index, candidate] of candidates.entries()) {
      const step = steps[index];
      if (step !== undefined && (await this.#accept(session, candidate, step, given))) {
        winner = candidate.user_id;
        break;
      }
      if (candidate.state === 'active') missed.add(candidate.user_id);
    }
    const others = [...missed].filter((id) => id !== winner);
    // Also counts where there is no user, so that it takes as long.
    if (winner === undefined || others.length > 0) await this.#countMisses(session, others, given);
    if (winner === undefined) return undefined;
    await clearMisses.run(session, { id: winner });
    return findUser(session, winner);
  }

  /** The step of the code for each candidate. The work is always the same, however many there are. */
  #compare(candidates: readonly TotpCandidate[], { code, nowMs }: Given): (number | undefined)[] {
    const { encryption } = this.#options;
    const dummy = encryption.encrypt(Buffer.alloc(totpSecretBytes).toString('base64url'), 'nobody');
    return Array.from({ length: comparedMax }, (_, index) => {
      const candidate = candidates[index];
      const secret = candidate
        ? encryption.decrypt(candidate.secret, candidate.user_id)
        : encryption.decrypt(dummy, 'nobody');
      const step = matchingTotpStep(Buffer.from(secret ?? '', 'base64url'), code, nowMs);
      return candidate && secret !== undefined ? step : undefined;
    });
  }

  /** Whether the code is accepted. An active secret accepts each step once; a pending one becomes active. */
  async #accept(session: Session, candidate: TotpCandidate, step: number, given: Given): Promise<boolean> {
    const { user_id: userId, state, bearer } = candidate;
    if (state === 'active') {
      if (candidate.totp_failures >= missesMax) return false;
      return (await useStep.run(session, { userId, step })).changes === 1;
    }
    const user = await findUser(session, userId);
    if (!user) return false;
    const { nowMs } = given;
    if (bearer === 0 && !(await proveFirstFactor(session, { user, kind: 'totp', nowMs }))) return false;
    await deleteActive.run(session, { userId });
    await confirmPending.run(session, { userId, step });
    if (!user.isVerified) await deleteExcessSecrets(session, candidate, given);
    await this.#announce(session, user, given);
    return true;
  }

  async #countMisses(session: Session, ids: readonly string[], { visitor }: Given): Promise<void> {
    const { audit, mails } = this.#options;
    for (const { id, email, verified } of await countMisses(session, ids, missesMax)) {
      await audit.record(session, 'authn_login_lock', { userId: id, address: visitor.address });
      if (verified === 1)
        await mails.enqueue(session, { kind: 'security', event: 'totp-blocked', to: email });
    }
  }

  async #announce(session: Session, user: User, { visitor }: Given): Promise<void> {
    const { audit, mails } = this.#options;
    await audit.record(session, 'totp_added', { userId: user.id, address: visitor.address });
    if (user.isVerified)
      await mails.enqueue(session, { kind: 'security', event: 'totp-added', to: user.email });
  }
}

/** The secrets that can sign in now: those of the owner and of three other users, one of whom may be setting up an app. */
function relevant(candidates: readonly TotpCandidate[], nowMs: number): TotpCandidate[] {
  const inTime = candidates.filter(
    ({ state, bearer, created_at_ms: createdMs }) =>
      state === 'active' || nowMs - createdMs < (bearer === 1 ? pendingMs.bearer : pendingMs.open),
  );
  const owners = inTime.filter(
    ({ verified, bearer, state }) => verified === 1 && (state === 'active' || bearer === 1),
  );
  const others = inTime.filter(({ verified }) => verified === 0);
  const ids = [...new Set(others.map(({ user_id }) => user_id))];
  const pending = others.find(({ pending_kind }) => pending_kind === 'totp')?.user_id;
  const proven = ids
    .filter((id) => id !== pending)
    .slice(0, pending === undefined ? othersMax : othersMax - 1);
  return [...owners, ...others.filter(({ user_id: id }) => id === pending || proven.includes(id))];
}

/** Besides a new secret, at most one other user who does not own the address keeps theirs: the first one. */
async function deleteExcessSecrets(
  session: Session,
  { user_id: own }: TotpCandidate,
  { email }: Given,
): Promise<void> {
  const others = (await secretsOf(session, email)).filter(
    ({ verified, state, user_id: id }) => verified === 0 && state === 'active' && id !== own,
  );
  for (const { user_id: userId } of others.slice(1)) await deleteTotp.run(session, { userId });
}
