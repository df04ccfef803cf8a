import type { WriteSession } from '#kit/db/index.ts';
import { newId } from '#kit/ids.ts';
import { authErrors } from '../errors.ts';
import type { PasswordlessConfig } from '../settings.ts';
import type { Tables } from '../store.ts';
import { deleteUser, insertUser, proveUser, renewPending, usersOf } from './store.ts';
import type { PendingKind, User } from './user.ts';

/** What adding a sign-in method without a token does, as the setting says. */
export type EnrollmentWithoutProof = PasswordlessConfig['PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF'];

const provenMax = 10;

/** The user that a sign-in method is added to. */
export interface EnrollmentTarget {
  /** Undefined if nothing may be stored. The response must look the same. */
  readonly user: User | undefined;
  /** Whether the user's own token asked for it. */
  readonly isBearer: boolean;
  /** The owner of the address, if somebody without their token asked: they get a mail about it. */
  readonly owner: User | undefined;
}

/**
 * The user that a sign-in method is added to without a token: never one who has signed in before. Each address has at most one pending user
 * per kind, who has proved nothing yet. The response does not show whether the address has an owner.
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
  if (known) await renewPending.run(session, { id: known.id, nowMs });
  return { user: known ?? (await insertPending(session, { email, kind, nowMs })), isBearer: false, owner };
}

/**
 * Turns a pending user into a full one when they prove their first sign-in method. Returns false if they are no longer pending: somebody
 * else was first, and the method must not be stored. At most ten users share an address that they do not own. Beyond that, the one who
 * did not sign in for the longest time is deleted, but never the first one.
 */
export async function proveFirstFactor(
  session: WriteSession<Tables>,
  { user, kind, nowMs }: { user: User; kind: PendingKind; nowMs: number },
): Promise<boolean> {
  await lockAddress(session, user.email);
  const { changes } = await proveUser.run(session, { id: user.id, kind, nowMs });
  if (changes === 0) return false;
  const proven = (await usersOf(session, user.email)).filter(
    (each) => !each.isVerified && each.pendingKind === undefined && each.id !== user.id,
  );
  const [, ...later] = proven;
  const idlest = later.toSorted((one, other) => one.lastSignInMs - other.lastSignInMs)[0];
  if (idlest && proven.length >= provenMax) await deleteUser.run(session, { id: idlest.id });
  return true;
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
