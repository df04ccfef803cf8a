import type { UserRow } from '../store/store.ts';

export interface User {
  readonly id: string;
  /** Belongs to the user only if `isVerified`. Otherwise it is a label that anybody could have chosen. */
  readonly email: string;
  /** True if the user used a link sent to the address. */
  readonly isVerified: boolean;
  /** The kind of sign-in method that the user has not proved yet; undefined for everybody who ever signed in. */
  readonly pendingKind: PendingKind | undefined;
  /** Consecutive wrong TOTP codes. */
  readonly totpFailures: number;
  readonly createdMs: number;
  readonly lastSignInMs: number;
}

export type PendingKind = NonNullable<UserRow['pending_kind']>;
