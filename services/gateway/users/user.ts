import { AppError, notFound } from '@octavo/core';
import type { Account } from '@octavo/protocols/authz/v1/authz';

/** Roles with their descriptions. */
export const roleChoices = [
  ['viewer', 'Viewer: reads posts'],
  ['editor', 'Editor: reads and writes posts'],
  ['admin', 'Administrator: full access, and manages users'],
] as const;

/** The number in the address of a page. One that is no number is not found. */
export function uidOf(params: unknown): number {
  const { uid = '' } = params as { uid?: string };
  if (!/^[1-9]\d{0,14}$/.test(uid)) throw notFound('user', uid);
  return Number(uid);
}

/** Prevents users from locking themselves out, so that there is always an administrator. */
export function refuseOwnAccount({ uid }: Account, ownUid: number): void {
  if (uid === ownUid) {
    throw new AppError('forbidden', 'You cannot do this to your own account. Ask another administrator.');
  }
}
