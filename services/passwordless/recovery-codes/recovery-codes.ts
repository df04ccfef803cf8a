import { createHmac, randomBytes } from 'node:crypto';
import { normalizeEmail } from '#kit/auth/email.ts';
import type { Visitor } from '#kit/auth/visitor.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import type { AppError } from '#kit/errors.ts';
import type { Audit } from '../audit.ts';
import { authErrors } from '../errors.ts';
import type { MailQueue } from '../mail/index.ts';
import { type Caller, checkFresh, type Sessions, type TokenPair } from '../sessions/index.ts';
import type { Tables } from '../store.ts';
import { base32 } from '../totp/index.ts';
import { clearFailures, countFailure, findUser, lockAddress, secondsBlocked } from '../users/index.ts';
import { deleteRecoveryCodes, insertRecoveryCode, takeRecoveryCode } from './store.ts';

export interface RecoveryCodesOptions {
  readonly database: Database<Tables>;
  readonly sessions: Sessions;
  readonly mails: MailQueue;
  readonly audit: Audit;
  readonly clock: Clock;
  /** The one that new codes are kept by, and a former one. */
  readonly codeKeys: readonly [Buffer, ...Buffer[]];
}

const codes = 10;
const codeBytes = 10;

/** Codes to keep on paper, for the day that everything else is lost. Each signs in once. */
export class RecoveryCodes {
  readonly #options: RecoveryCodesOptions;

  constructor(options: RecoveryCodesOptions) {
    this.#options = options;
  }

  /** Ten new codes of 80 bits, shown this once, in the place of the former ones. Throws REAUTH_REQUIRED. */
  async renew(
    caller: Caller,
    { visitor, locale }: { visitor: Visitor; locale: string | undefined },
  ): Promise<string[]> {
    const { database, mails, audit, clock } = this.#options;
    const nowMs = clock.now();
    checkFresh(caller, undefined, nowMs);
    const { user } = caller;
    const made = Array.from({ length: codes }, newCode);
    await database.write(async (session) => {
      await lockAddress(session, user.email);
      await deleteRecoveryCodes.run(session, { userId: user.id });
      for (const code of made)
        await insertRecoveryCode.run(session, { hash: this.#hashes(code)[0], userId: user.id, nowMs });
      await audit.record(session, 'recovery_codes_made', { userId: user.id, address: visitor.address });
      if (user.isVerified)
        await mails.enqueue(session, {
          kind: 'security',
          event: 'recovery-codes-made',
          to: user.email,
          locale,
        });
    });
    mails.wakeWorkers();
    return made;
  }

  /** Throws INVALID_CODE or RATE_LIMITED. */
  async verify(given: { email: string; code: string }, visitor: Visitor): Promise<TokenPair> {
    const { database, sessions, mails, audit, clock } = this.#options;
    const email = normalizeEmail(given.email);
    if (email === undefined) throw authErrors.invalidCode();
    const attempt = { kind: 'recovery', email, address: visitor.address, nowMs: clock.now() } as const;
    // What a wrong code counts must be kept although the request fails.
    const answer = await database.write(async (session): Promise<TokenPair | AppError> => {
      await lockAddress(session, email);
      const seconds = await secondsBlocked(session, attempt);
      if (seconds > 0) return authErrors.rateLimited(seconds);
      const [hash, formerHash = hash] = this.#hashes(given.code);
      const taken = await takeRecoveryCode.first(session, { hash, formerHash, email });
      const user = taken && (await findUser(session, taken.user_id));
      if (!user) {
        await countFailure(session, attempt);
        await audit.record(session, 'authn_login_fail', { address: visitor.address });
        return authErrors.invalidCode();
      }
      await clearFailures(session, attempt);
      await audit.record(session, 'recovery_code_used', { userId: user.id, address: visitor.address });
      if (user.isVerified)
        await mails.enqueue(session, { kind: 'security', event: 'recovery-code-used', to: user.email });
      return sessions.open(session, { user, amr: ['recovery'], visitor });
    });
    mails.wakeWorkers();
    if (answer instanceof Error) throw answer;
    return answer;
  }

  /** Keyed, so that who has the database alone cannot try codes; written in any case and with any separators. */
  #hashes(code: string): [string, ...string[]] {
    const plain = code.toUpperCase().replace(/[^A-Z0-9]/g, '');
    const hashWith = (key: Buffer) =>
      createHmac('sha256', key).update(`recovery:${plain}`).digest('base64url');
    const [current, ...former] = this.#options.codeKeys;
    return [hashWith(current), ...former.map(hashWith)];
  }
}

/** Such as `J3KQ-7ZPA-M2XW-LRTC`. */
function newCode(): string {
  return base32(randomBytes(codeBytes)).match(/.{4}/g)?.join('-') ?? '';
}
