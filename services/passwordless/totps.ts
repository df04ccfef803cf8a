import { randomBytes } from 'node:crypto';
import { normalizeEmail } from '#kit/auth/email.ts';
import type { Visitor } from '#kit/auth/visitor.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database, WriteSession } from '#kit/db/index.ts';
import type { Alerts } from './alerts.ts';
import type { Audit } from './audit.ts';
import type { Caller } from './caller.ts';
import { checkFresh, type Enrolee, enroleeWithoutToken, lockAddress } from './enrolment.ts';
import type { MailQueue } from './mail-queue.ts';
import type { MailSeal } from './mail-seal.ts';
import { refusals } from './refusals.ts';

import { deleteTotp, putPending } from './store-totp.ts';
import { findUser } from './store-users.ts';
import type { Tables } from './tables.ts';
import { base32, otpauthUrl, totpSecretBytes } from './totp-code.ts';
import { hasWayIn } from './ways-in.ts';

export interface TotpsOptions {
  readonly database: Database<Tables>;
  readonly mails: MailQueue;
  readonly alerts: Alerts;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly seal: MailSeal;
  /** What authenticator apps show beside the address. */
  readonly issuer: string;
  readonly enrollmentWithoutProof: 'provisional' | 'inert' | 'off';
}

/** Who asks for a change, and how to write to them. */
export interface Asking {
  readonly caller: Caller | undefined;
  readonly visitor: Visitor;
  readonly locale: string | undefined;
}

const attempt = { kind: 'security', event: 'enrolment-attempt', quietMs: 3_600_000 } as const;

/** Authenticator apps: setting one up and removing it. */
export class Totps {
  readonly #options: TotpsOptions;

  constructor(options: TotpsOptions) {
    this.#options = options;
  }

  /** A new secret, which counts once a code of it came back. Throws INVALID_EMAIL, EMAIL_MISMATCH or REAUTH_REQUIRED. */
  async enroll(given: string, asking: Asking): Promise<{ secret: string; otpauth_url: string }> {
    const { database, alerts, audit, clock, issuer } = this.#options;
    const email = normalizeEmail(given);
    if (email === undefined) throw refusals.invalidEmail();
    const nowMs = clock.now();
    if (asking.caller) checkFresh(asking.caller, email, nowMs);
    const secret = randomBytes(totpSecretBytes);
    const { owner } = await database.write(async (session) => {
      const enrolee = await this.#enrolee(session, email, asking, nowMs);
      await this.#keep(session, enrolee, secret, nowMs);
      const facts = { userId: enrolee.user?.id, address: asking.visitor.address };
      if (!enrolee.isBearer) await audit.record(session, 'enrolment_without_token', facts);
      return enrolee;
    });
    if (owner) alerts.send({ ...attempt, to: owner.email, locale: asking.locale });
    const text = base32(secret);
    return { secret: text, otpauth_url: otpauthUrl({ secret: text, issuer, email }) };
  }

  /** Throws REAUTH_REQUIRED, LAST_FACTOR, or that there is none. */
  async remove(caller: Caller, { visitor, locale }: Omit<Asking, 'caller'>): Promise<void> {
    const { database, mails, audit, clock } = this.#options;
    checkFresh(caller, undefined, clock.now());
    await database.write(async (session) => {
      await lockAddress(session, caller.user.email);
      const user = await findUser(session, caller.user.id);
      const { changes } = await deleteTotp.run(session, { userId: caller.user.id });
      if (!user || changes === 0) throw refusals.totpNotFound();
      if (!(await hasWayIn(session, user))) throw refusals.lastFactor();
      await audit.record(session, 'totp_removed', { userId: user.id, address: visitor.address });
      if (user.isVerified)
        await mails.enqueue(session, { kind: 'security', event: 'totp-removed', to: user.email, locale });
    });
    mails.nudge();
  }

  async #enrolee(
    session: WriteSession<Tables>,
    email: string,
    { caller }: Asking,
    nowMs: number,
  ): Promise<Enrolee> {
    if (caller) return { user: caller.user, isBearer: true, owner: undefined };
    const mode = this.#options.enrollmentWithoutProof;
    return enroleeWithoutToken(session, { email, kind: 'totp', mode, nowMs });
  }

  async #keep(
    session: WriteSession<Tables>,
    { user, isBearer }: Enrolee,
    secret: Uint8Array,
    nowMs: number,
  ): Promise<void> {
    // Sealed also where it is thrown away, so that the time is the same.
    const sealed = this.#options.seal.seal(base64(secret), user?.id ?? 'nobody');
    if (user) await putPending.run(session, { userId: user.id, secret: sealed, bearer: isBearer, nowMs });
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
