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

/** For whom a factor is being added. */
export interface EnrollmentTarget {
  /** Undefined where nothing may be stored, though the answer must look the same. */
  readonly user: User | undefined;
  /** The user's own token asked for it. */
  readonly isBearer: boolean;
  /** The owner of the address, where somebody without their token asked: they should hear of it. */
  readonly owner: User | undefined;
}

/**
 * Who a factor is added to without a token: never anybody who has signed in before. That is the one user a kind and address
 * who has proved nothing yet; the address being somebody else's makes no difference that shows.
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
 * Makes a user of one who has now proved a first factor. False where that is not so (any more): somebody else was first, and
 * the factor must not be stored. At most ten users who own it not share an address: beyond the one quiet longest gives way, never the first.
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
  const quietest = later.toSorted((one, other) => one.lastSignInMs - other.lastSignInMs)[0];
  if (quietest && proven.length >= provenMax) await deleteUser.run(session, { id: quietest.id });
  return true;
}

/** Puts all that concerns one address in order, also across processes. */
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
