import { newId } from '@octavo/core';
import type { WriteSession } from '@octavo/data';
import type { Audit } from '../audit.ts';
import type { MailQueue } from '../mail/index.ts';
import type { Tables } from '../store/store.ts';
import { deleteUser, factorsOf, insertUser, usersOf, verifyUser } from './store.ts';
import type { User } from './user.ts';

interface Proof {
  readonly email: string;
  /** The user who was signed in where the link was used. */
  readonly signedInAs: string | undefined;
  readonly nowMs: number;
}

interface ClaimParts {
  readonly session: WriteSession<Tables>;
  readonly audit: Audit;
  readonly mails: MailQueue;
}

/**
 * The owner of an address, now that a link sent there was used. The caller holds the lock of the address. If it had no owner, what counts is
 * who used the link, not who asked for it: a user of the address becomes its owner and keeps their sign-in methods if they were signed in.
 * Otherwise the owner is a new user, and all users of the address are deleted: a stranger may have been there first (pre-hijacking,
 * Sudhodanan and Paverd 2022). The new user has an id of their own, since other services may have stored things for the old ones.
 */
export async function claimAccount(parts: ClaimParts, proof: Proof): Promise<User> {
  const { session, audit } = parts;
  const users = await usersOf(session, proof.email);
  const owner = users.find((user) => user.isVerified);
  if (owner) return owner;
  const claimant = users.find((user) => user.id === proof.signedInAs);
  if (!claimant) return createOwner(parts, users, proof);
  await mailAboutFactors(parts, claimant);
  await verifyUser(session, claimant.id);
  await audit.record(session, 'user_verified', { userId: claimant.id });
  return { ...claimant, isVerified: true, pendingKind: undefined };
}

/** A new owner of an address in place of all users who shared it without owning it. The caller holds the lock of the address. */
export async function createOwner(
  { session, audit }: Pick<ClaimParts, 'session' | 'audit'>,
  users: readonly User[],
  { email, nowMs }: Pick<Proof, 'email' | 'nowMs'>,
): Promise<User> {
  for (const { id } of users) {
    await deleteUser(session, id);
    await audit.record(session, 'user_deleted', { userId: id });
  }
  const id = newId();
  await insertUser(session, { id, email, verified: 1, pending_kind: null, created_at_ms: nowMs });
  await audit.record(session, 'user_created', { userId: id });
  const times = { createdMs: nowMs, lastSignInMs: nowMs };
  return { id, email, isVerified: true, pendingKind: undefined, totpFailures: 0, ...times };
}

/** The owner of the address should know the other ways to sign in to the account. */
async function mailAboutFactors({ session, mails }: ClaimParts, user: User): Promise<void> {
  const { totp = 0, passkeys = 0 } = (await factorsOf(session, user.id)) ?? {};
  const mail = { to: user.email, kind: 'security' } as const;
  if (totp > 0) await mails.enqueue(session, { ...mail, event: 'totp-added' });
  if (passkeys > 0) await mails.enqueue(session, { ...mail, event: 'passkey-added' });
}
