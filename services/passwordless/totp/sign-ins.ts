import { normalizeEmail } from '#kit/auth/email.ts';
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
import { matchingStep, totpSecretBytes } from './code.ts';
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

export interface TotpSignInsOptions {
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

/** As many secrets are compared with each code: two of the owner, and two of each of three others. */
const comparedMax = 8;
const othersMax = 3;
/** Beyond these wrong codes in a row no code counts until a link or a passkey was used (NIST SP 800-63B section 3.2.2). */
export const missesMax = 100;
/** For how long a secret can be proved: one that a token asked for, and any other. */
const pendingMs = { bearer: 15 * 60_000, open: 24 * 3_600_000 } as const;

/** Signing in by the code of an authenticator app, which also proves one that is being set up. */
export class TotpSignIns {
  readonly #options: TotpSignInsOptions;

  constructor(options: TotpSignInsOptions) {
    this.#options = options;
  }

  /** Throws INVALID_CODE, whatever the reason, or RATE_LIMITED. */
  async verify(given: { email: string; code: string }, visitor: Visitor): Promise<TokenPair> {
    const { database, audit, clock, mails } = this.#options;
    const email = normalizeEmail(given.email);
    if (email === undefined) throw authErrors.invalidCode();
    const { code } = given;
    const nowMs = clock.now();
    const attempt = { kind: 'totp', email, address: visitor.address, nowMs } as const;
    // What a wrong code counts must be kept although the request fails.
    const answer = await database.write(async (session): Promise<TokenPair | AppError> => {
      await lockAddress(session, email);
      const seconds = await secondsBlocked(session, attempt);
      if (seconds > 0) return authErrors.rateLimited(seconds);
      const user = await this.#whose(session, { email, code, visitor, nowMs });
      if (user) return this.#options.sessions.open(session, { user, amr: ['otp'], visitor });
      await countFailure(session, attempt);
      await audit.record(session, 'authn_login_fail', { address: visitor.address });
      return authErrors.invalidCode();
    });
    mails.wakeWorkers();
    if (answer instanceof Error) throw answer;
    return answer;
  }

  /**
   * Whose code it is. Everybody's secret is compared, and one that a code passed over counts it as a miss also where it is another's:
   * who has a user of their own at somebody's address could else attempt at both with each of their right codes.
   */
  async #whose(session: Session, given: Given): Promise<User | undefined> {
    const candidates = relevant(await secretsOf(session, given.email), given.nowMs);
    const steps = this.#compare(candidates, given);
    let winner: string | undefined;
    const missed = new Set<string>();
    for (const [index, candidate] of candidates.entries()) {
      const step = steps[index];
      if (step !== undefined && (await this.#take(session, candidate, step, given))) {
        winner = candidate.user_id;
        break;
      }
      if (candidate.state === 'active') missed.add(candidate.user_id);
    }
    const others = [...missed].filter((id) => id !== winner);
    // Also where there is nobody to count it for: it takes as long.
    if (winner === undefined || others.length > 0) await this.#countMisses(session, others, given);
    if (winner === undefined) return undefined;
    await clearMisses.run(session, { id: winner });
    return findUser(session, winner);
  }

  /** The step that the code is for, by candidate. The work is always the same, however many there are. */
  #compare(candidates: readonly TotpCandidate[], { code, nowMs }: Given): (number | undefined)[] {
    const { encryption } = this.#options;
    const nobody = encryption.encrypt(Buffer.alloc(totpSecretBytes).toString('base64url'), 'nobody');
    return Array.from({ length: comparedMax }, (_, index) => {
      const candidate = candidates[index];
      const opened = candidate
        ? encryption.decrypt(candidate.secret, candidate.user_id)
        : encryption.decrypt(nobody, 'nobody');
      const step = matchingStep(Buffer.from(opened ?? '', 'base64url'), code, nowMs);
      return candidate && opened !== undefined ? step : undefined;
    });
  }

  /** Whether the code counts: an active secret takes a step once, a pending one becomes the active one. */
  async #take(session: Session, candidate: TotpCandidate, step: number, given: Given): Promise<boolean> {
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
    if (!user.isVerified) await makeRoom(session, candidate, given);
    await this.#tell(session, user, given);
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

  async #tell(session: Session, user: User, { visitor }: Given): Promise<void> {
    const { audit, mails } = this.#options;
    await audit.record(session, 'totp_added', { userId: user.id, address: visitor.address });
    if (user.isVerified)
      await mails.enqueue(session, { kind: 'security', event: 'totp-added', to: user.email });
  }
}

/** The secrets that may count now: those of the owner, and of three others, of whom one may be about to prove theirs. */
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

/** At most two who own the address not keep a secret beside one that is being set up: the one who set theirs up last gives way, never the first. */
async function makeRoom(session: Session, { user_id: own }: TotpCandidate, { email }: Given): Promise<void> {
  const others = (await secretsOf(session, email)).filter(
    ({ verified, state, user_id: id }) => verified === 0 && state === 'active' && id !== own,
  );
  for (const { user_id: userId } of others.slice(1)) await deleteTotp.run(session, { userId });
}
