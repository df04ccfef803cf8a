import type { WriteSession } from '#kit/db/index.ts';
import { newId } from '#kit/ids.ts';
import { authErrors } from '../errors.ts';
import type { PasswordlessConfig } from '../settings.ts';
import type { Tables } from '../store.ts';
import { deleteUser, idleUsers, insertUser, proveUser, renewPending, usersOf } from './store.ts';
import type { PendingKind, User } from './user.ts';

/** What adding a sign-in method without a token does, as the setting says. */
export type EnrollmentWithoutProof = PasswordlessConfig['PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF'];

/** Users who share an address that they do not own. */
const unverifiedMax = 3;
const idleMs = 24 * 3_600_000;

/** The user that a sign-in method is added to. */
export interface EnrollmentTarget {
  /** Undefined if nothing is stored. The response must look the same. */
  readonly user: User | undefined;
  /** Whether the user's own token asked for it. */
  readonly isBearer: boolean;
  /** The owner of the address, if somebody without their token asked: they get a mail about it. */
  readonly owner: User | undefined;
}

/**
 * The user that a sign-in method is added to without a token: never one who has signed in before. Each address has at most one pending user
 * per kind, who has proved nothing yet. There is none if other users take up all the room: see {@link makeRoom}. The response shows neither that nor
 * whether the address has an owner.
 */
export async function enrollmentTarget(
  session: WriteSession<Tables>,
  asked: { email: string; kind: PendingKind; mode: EnrollmentWithoutProof; nowMs: number },
): Promise<EnrollmentTarget> {
  const { email, kind, mode, nowMs } = asked;
  if (mode === 'off') throw authErrors.missingToken();
  await lockAddress(session, email);
  const users = await usersOf(session, email);
  const owner = users.find((user) => user.isVerified);
  const isClaimed = users.some((user) => user.pendingKind === undefined);
  if (mode === 'inert' && isClaimed) return { user: undefined, isBearer: false, owner };
  const known = users.find((user) => user.pendingKind === kind);
  if (known) {
    await renewPending.run(session, { id: known.id, nowMs });
    return { user: known, isBearer: false, owner };
  }
  const hasRoom = await makeRoom(session, { email, users, nowMs });
  const user = hasRoom ? await insertPending(session, { email, kind, nowMs }) : undefined;
  return { user, isBearer: false, owner };
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
  const idle = await idleUsers.all(session, { email, sinceMs: nowMs - idleMs });
  const leaving = [...unproven, ...idle].slice(0, excess);
  if (leaving.length < excess) return false;
  for (const { id } of leaving) await deleteUser.run(session, { id });
  return true;
}

/**
 * Turns a pending user into a full one when they prove their first sign-in method. Returns false if they are no longer pending: somebody
 * else was first, and the method must not be stored.
 */
export async function proveFirstFactor(
  session: WriteSession<Tables>,
  { user, kind, nowMs }: { user: User; kind: PendingKind; nowMs: number },
): Promise<boolean> {
  await lockAddress(session, user.email);
  return (await proveUser.run(session, { id: user.id, kind, nowMs })).changes > 0;
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
  await insertUser.run(session, { id, email, verified: false, kind, nowMs });
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
