import { newId } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import type { Background } from '@octavo/core/concurrency';
import type { Database, WriteSession } from '@octavo/data';
import type { Audit } from '../audit.ts';
import { authErrors } from '../errors.ts';
import type { MailQueue } from '../mail/index.ts';
import type { PasswordlessConfig } from '../settings.ts';
import type { Tables } from '../store/store.ts';
import { deleteUser, idleUsers, insertUser, proveUser, renewPending, usersOf } from './store.ts';
import type { PendingKind, User } from './user.ts';

/** Effect of adding a sign-in method without a token, according to the setting. */
type EnrollmentWithoutProof = PasswordlessConfig['PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF'];

/** Users who share an address that they do not own. */
const unverifiedMax = 3;
const idleMs = 24 * 3_600_000;

/** A request to add a sign-in method without a token. */
interface UnprovenRequest {
  readonly email: string;
  readonly visitor: Visitor;
  readonly locale: string | undefined;
}

interface UnprovenEnrollmentOptions {
  readonly database: Database<Tables>;
  readonly mails: MailQueue;
  readonly audit: Audit;
  readonly background: Background;
  readonly mode: EnrollmentWithoutProof;
  readonly allowsSignUp: boolean;
}

const attemptMail = { kind: 'security', event: 'enrolment-attempt', quietMs: 3_600_000 } as const;

/** Adding a sign-in method without a token. The response never shows whether the address has an owner. */
export class UnprovenEnrollment {
  readonly #options: UnprovenEnrollmentOptions;

  constructor(options: UnprovenEnrollmentOptions) {
    this.#options = options;
  }

  /**
   * Returns true if something may be stored. Without sign-up, data of new users may not, so the response is created without the
   * database, in the same time for every address. Throws MISSING_TOKEN if only users with a token may add sign-in methods.
   */
  isOpen(): boolean {
    const { mode, allowsSignUp } = this.#options;
    if (mode === 'off') throw authErrors.missingToken();
    return allowsSignUp;
  }

  /**
   * The user that the sign-in method is added to: never one who has signed in before. Each address has at most one pending user per kind, who
   * has proved nothing yet. There is none if nothing is to be stored, or if other users take up all the room: see {@link makeRoom}.
   */
  async target(
    session: WriteSession<Tables>,
    { email, visitor }: UnprovenRequest,
    { kind, nowMs }: { kind: PendingKind; nowMs: number },
  ): Promise<User | undefined> {
    const { mode, audit } = this.#options;
    await lockAddress(session, email);
    const users = await usersOf(session, email);
    const isClaimed = users.some((user) => user.pendingKind === undefined);
    const isInert = mode === 'inert' && isClaimed;
    const user = isInert ? undefined : await pendingUser(session, users, { email, kind, nowMs });
    const facts = { userId: user?.id, address: visitor.address };
    await audit.record(session, 'enrolment_without_token', facts);
    return user;
  }

  /** Mails the owner of the address, if it has one, after the response. */
  tellOwner({ email, visitor, locale }: UnprovenRequest): void {
    const { database, mails, audit, background, allowsSignUp } = this.#options;
    background.run('telling the owner of an address', async () => {
      await database.write(async (session) => {
        const owner = (await usersOf(session, email)).find((user) => user.isVerified);
        if (owner) await mails.enqueue(session, { ...attemptMail, to: owner.email, locale });
        if (!allowsSignUp)
          await audit.record(session, 'enrolment_without_token', { address: visitor.address });
      });
      mails.wakeWorkers();
    });
  }
}

async function pendingUser(
  session: WriteSession<Tables>,
  users: readonly User[],
  asked: { email: string; kind: PendingKind; nowMs: number },
): Promise<User | undefined> {
  const { email, kind, nowMs } = asked;
  const known = users.find((user) => user.pendingKind === kind);
  if (known) {
    await renewPending(session, known.id, nowMs);
    return known;
  }
  const hasRoom = await makeRoom(session, { email, users, nowMs });
  return hasRoom ? insertPending(session, asked) : undefined;
}

/**
 * Makes room for a new user at an address. At most three share it without owning it. The one who proved nothing for the longest time is deleted first, then
 * the one who was idle the longest, for a day or more. Returns false if there is no such user, so that strangers cannot push anybody out.
 */
async function makeRoom(
  session: WriteSession<Tables>,
  { email, users, nowMs }: { email: string; users: readonly User[]; nowMs: number },
): Promise<boolean> {
  const unverified = users.filter((user) => !user.isVerified);
  const excess = unverified.length + 1 - unverifiedMax;
  if (excess <= 0) return true;
  const unproven = unverified.filter(({ pendingKind }) => pendingKind !== undefined);
  const idle = await idleUsers(session, email, nowMs - idleMs);
  const leaving = [...unproven, ...idle].slice(0, excess);
  if (leaving.length < excess) return false;
  for (const { id } of leaving) await deleteUser(session, id);
  return true;
}

/**
 * Turns a pending user into a full one when they prove their first sign-in method. Returns false if they are no longer pending: another
 * request was first, and the method must not be stored.
 */
export async function proveFirstFactor(
  session: WriteSession<Tables>,
  { user, kind, nowMs }: { user: User; kind: PendingKind; nowMs: number },
): Promise<boolean> {
  await lockAddress(session, user.email);
  return (await proveUser(session, { id: user.id, kind, nowMs })).numUpdatedRows > 0n;
}

/** Runs all transactions about one address one after another, in every process. */
export function lockAddress(session: WriteSession<Tables>, email: string): Promise<void> {
  return session.lock(`address:${email}`);
}

async function insertPending(
  session: WriteSession<Tables>,
  { email, kind, nowMs }: { email: string; kind: PendingKind; nowMs: number },
): Promise<User> {
  const id = newId();
  await insertUser(session, { id, email, verified: 0, pending_kind: kind, created_at_ms: nowMs });
  return {
    id,
    email,
    isVerified: false,
    pendingKind: kind,
    totpFailures: 0,
    createdMs: nowMs,
    lastSignInMs: nowMs,
  };
}
