import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import { base32, normalizeEmail } from '@octavo/core/auth';
import type { Database } from '@octavo/data';
import type { Audit } from '../audit.ts';
import { authErrors } from '../errors.ts';
import type { MailQueue } from '../mail/index.ts';
import { type Caller, checkFresh, type Sessions, type TokenPair } from '../sessions/index.ts';
import type { Tables } from '../store/store.ts';
import { findUser, lockAddress } from '../users/index.ts';
import { deleteRecoveryCodes, insertRecoveryCode, takeRecoveryCode } from './store.ts';

interface RecoveryCodesOptions {
  readonly database: Database<Tables>;
  readonly sessions: Sessions;
  readonly mails: MailQueue;
  readonly audit: Audit;
  readonly clock: Clock;
  /** The key for new codes, then the previous one. */
  readonly codeKeys: readonly [Buffer, ...Buffer[]];
}

const codeCount = 10;
const codeBytes = 10;

/** Codes to keep on paper, for when every other sign-in method is lost. Each works once. */
export class RecoveryCodes {
  readonly #options: RecoveryCodesOptions;

  constructor(options: RecoveryCodesOptions) {
    this.#options = options;
  }

  /** Replaces the codes with ten new ones of 80 bits, which are shown only once. Throws REAUTH_REQUIRED. */
  async renew(
    caller: Caller,
    { visitor, locale }: { visitor: Visitor; locale: string | undefined },
  ): Promise<string[]> {
    const { database, mails, audit, clock } = this.#options;
    const nowMs = clock.now();
    checkFresh(caller, undefined, nowMs);
    const { user } = caller;
    const made = Array.from({ length: codeCount }, newCode);
    await database.write(async (session) => {
      await lockAddress(session, user.email);
      await deleteRecoveryCodes(session, user.id);
      for (const code of made)
        await insertRecoveryCode(session, { hash: this.#hashes(code)[0], userId: user.id, nowMs });
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

  /** Throws INVALID_CODE. Codes of 80 bits cannot be guessed, so that only the requests of a client are limited. */
  async verify(given: { email: string; code: string }, visitor: Visitor): Promise<TokenPair> {
    const { database, sessions, mails, audit } = this.#options;
    const email = normalizeEmail(given.email);
    if (email === undefined) throw authErrors.invalidCode();
    // The event must be committed although the request fails.
    const pair = await database.write(async (session) => {
      await lockAddress(session, email);
      const [hash, previousHash = hash] = this.#hashes(given.code);
      const taken = await takeRecoveryCode(session, { hash, previousHash, email });
      const user = taken && (await findUser(session, taken.user_id));
      if (!user) {
        await audit.record(session, 'authn_login_fail', { address: visitor.address });
        return undefined;
      }
      await audit.record(session, 'recovery_code_used', { userId: user.id, address: visitor.address });
      if (user.isVerified)
        await mails.enqueue(session, { kind: 'security', event: 'recovery-code-used', to: user.email });
      return sessions.open(session, { user, amr: ['recovery'], visitor });
    });
    mails.wakeWorkers();
    if (!pair) throw authErrors.invalidCode();
    return pair;
  }

  /** Keyed, so that the database alone is not enough to try codes. Case and separators do not matter. */
  #hashes(code: string): [string, ...string[]] {
    const plain = code
      .normalize('NFKC')
      .toUpperCase()
      .replace(/[^A-Z0-9]/g, '');
    const hashWith = (key: Buffer) =>
      createHmac('sha256', key).update(`recovery:${plain}`).digest('base64url');
    const [current, ...previous] = this.#options.codeKeys;
    return [hashWith(current), ...previous.map(hashWith)];
  }
}

/** Code such as `J3KQ-7ZPA-M2XW-LRTC`. */
function newCode(): string {
  return base32(randomBytes(codeBytes)).match(/.{4}/g)?.join('-') ?? '';
}
