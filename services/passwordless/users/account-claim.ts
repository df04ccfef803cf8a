import type { WriteSession } from '#kit/db/index.ts';
import { newId } from '#kit/ids.ts';
import type { Audit } from '../audit.ts';
import type { MailQueue } from '../mail/index.ts';
import type { Tables } from '../store.ts';
import { factorsOf, insertUser, usersOf, verifyUser, wipeFactors } from './store.ts';
import type { User } from './user.ts';

interface Proof {
  readonly email: string;
  /** The user whose own token asked for the link. */
  readonly askedBy: string | undefined;
  readonly nowMs: number;
}

interface ClaimParts {
  readonly session: WriteSession<Tables>;
  readonly audit: Audit;
  readonly mails: MailQueue;
}

/**
 * The owner of an address, now that a link sent there was used. The caller holds the lock of the address. If nobody owned it, its oldest
 * user becomes the owner, without the sign-in methods that were set up before: a stranger may have been there first
 * (pre-hijacking, Sudhodanan and Paverd 2022). Only a user who asked for the link with their own token keeps them.
 */
export async function claimAccount(parts: ClaimParts, proof: Proof): Promise<User> {
  const { session, audit } = parts;
  const users = await usersOf(session, proof.email);
  const owner = users.find((user) => user.isVerified);
  if (owner) return owner;
  const asked = users.find((user) => user.id === proof.askedBy);
  const claimant = asked ?? users.find((user) => user.pendingKind === undefined) ?? users[0];
  if (!claimant) return newOwner(parts, proof);
  if (asked) await mailAboutFactors(parts, asked);
  else await wipeFactors(session, claimant.id);
  await verifyUser.run(session, { id: claimant.id });
  await audit.record(session, 'user_verified', { userId: claimant.id });
  return { ...claimant, isVerified: true, pendingKind: undefined };
}

async function newOwner({ session, audit }: ClaimParts, { email, nowMs }: Proof): Promise<User> {
  const id = newId();
  await insertUser.run(session, { id, email, verified: true, kind: null, nowMs });
  await audit.record(session, 'user_created', { userId: id });
  const times = { createdMs: nowMs, lastSignInMs: nowMs };
  return { id, email, isVerified: true, pendingKind: undefined, totpFailures: 0, ...times };
}

/** The owner of the address should know what else signs in to the account. */
async function mailAboutFactors({ session, mails }: ClaimParts, user: User): Promise<void> {
  const { totp = 0, passkeys = 0 } = (await factorsOf.first(session, { userId: user.id })) ?? {};
  const mail = { to: user.email, kind: 'security' } as const;
  if (totp > 0) await mails.enqueue(session, { ...mail, event: 'totp-added' });
  if (passkeys > 0) await mails.enqueue(session, { ...mail, event: 'passkey-added' });
}
