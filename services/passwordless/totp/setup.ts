import { randomBytes } from 'node:crypto';
import type { Clock } from '@octavo/core';
import type { Encryption, Visitor } from '@octavo/core/auth';
import { base32, normalizeEmail, otpauthUrl, totpSecretBytes } from '@octavo/core/auth';
import type { Database, WriteSession } from '@octavo/data';
import type { Audit } from '../audit.ts';
import { authErrors } from '../errors.ts';
import type { MailQueue } from '../mail/index.ts';
import { type Caller, checkFresh } from '../sessions/index.ts';
import type { Tables } from '../store/store.ts';
import { canSignIn, findUser, lockAddress, type UnprovenEnrollment, type User } from '../users/index.ts';

import { deleteTotp, putPending } from './store.ts';

interface TotpSetupOptions {
  readonly database: Database<Tables>;
  readonly mails: MailQueue;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly encryption: Encryption;
  /** The name of the service in authenticator apps. */
  readonly issuer: string;
  readonly unprovenEnrollment: UnprovenEnrollment;
}

/** Caller, and the language for mails to them. */
interface EnrollmentRequest {
  readonly caller: Caller | undefined;
  readonly visitor: Visitor;
  readonly locale: string | undefined;
}

/** Setting up and removing authenticator apps. */
export class TotpSetup {
  /** The name of the service in authenticator apps. */
  readonly issuer: string;
  readonly #options: TotpSetupOptions;

  constructor(options: TotpSetupOptions) {
    this.issuer = options.issuer;
    this.#options = options;
  }

  /** Creates a secret, which becomes active with its first code. Throws INVALID_EMAIL, EMAIL_MISMATCH or REAUTH_REQUIRED. */
  async enroll(given: string, request: EnrollmentRequest): Promise<{ secret: string; otpauth_url: string }> {
    const { database, clock, issuer, unprovenEnrollment } = this.#options;
    const { caller, visitor, locale } = request;
    const email = normalizeEmail(given);
    if (email === undefined) throw authErrors.invalidEmail();
    const nowMs = clock.now();
    const secret = randomBytes(totpSecretBytes);
    if (caller) {
      checkFresh(caller, email, nowMs);
      await database.write((session) => this.#store(session, caller.user, { secret, bearer: true, nowMs }));
    } else {
      const asked = { email, visitor, locale };
      if (unprovenEnrollment.isOpen()) {
        await database.write(async (session) => {
          const user = await unprovenEnrollment.target(session, asked, { kind: 'totp', nowMs });
          await this.#store(session, user, { secret, bearer: false, nowMs });
        });
      }
      unprovenEnrollment.tellOwner(asked);
    }
    const text = base32(secret);
    return { secret: text, otpauth_url: otpauthUrl({ secret: text, issuer, account: email }) };
  }

  /** Throws REAUTH_REQUIRED, LAST_FACTOR, or `not_found` if there is no app. */
  async remove(caller: Caller, { visitor, locale }: Omit<EnrollmentRequest, 'caller'>): Promise<void> {
    const { database, mails, audit, clock } = this.#options;
    checkFresh(caller, undefined, clock.now());
    await database.write(async (session) => {
      await lockAddress(session, caller.user.email);
      const user = await findUser(session, caller.user.id);
      const { numDeletedRows } = await deleteTotp(session, caller.user.id);
      if (!user || numDeletedRows === 0n) throw authErrors.totpNotFound();
      if (!(await canSignIn(session, user))) throw authErrors.lastFactor();
      await audit.record(session, 'totp_removed', { userId: user.id, address: visitor.address });
      if (user.isVerified)
        await mails.enqueue(session, { kind: 'security', event: 'totp-removed', to: user.email, locale });
    });
    mails.wakeWorkers();
  }

  async #store(
    session: WriteSession<Tables>,
    user: User | undefined,
    { secret, bearer, nowMs }: { secret: Uint8Array; bearer: boolean; nowMs: number },
  ): Promise<void> {
    // Encrypted even if it is not stored, so that the time is the same.
    const encrypted = this.#options.encryption.encrypt(base64(secret), user?.id ?? 'nobody');
    if (user) await putPending(session, { userId: user.id, secret: encrypted, bearer, nowMs });
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
