import type { UserRow } from '../store.ts';

/** Somebody who signs in. */
export interface User {
  readonly id: string;
  /** The address, which is theirs only where `isVerified`; else a label that anybody may have given. */
  readonly email: string;
  /** A link sent to the address was used. */
  readonly isVerified: boolean;
  /** What they have proved no factor of yet; undefined for everybody who ever signed in. */
  readonly pendingKind: PendingKind | undefined;
  /** Wrong TOTP codes in a row. */
  readonly totpFailures: number;
  readonly createdMs: number;
  readonly lastSignInMs: number;
}

/** What a user without a proven factor is about to prove. */
export type PendingKind = NonNullable<UserRow['pending_kind']>;
