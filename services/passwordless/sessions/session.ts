import type { Visitor } from '@octavo/core/auth';

/** A sign-in and all tokens issued for it. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  /** Methods that the user signed in with. */
  readonly amr: readonly Method[];
  /** Time of the sign-in. Refreshing does not change it. */
  readonly authenticatedMs: number;
  readonly lastUsedMs: number;
  /** Time at which the newest refresh token expires. */
  readonly expiresMs: number;
  readonly generation: number;
  readonly rotatedMs: number | undefined;
  readonly visitor: Visitor;
}

/** Authentication methods (RFC 8176); `email` and `recovery` are ours. */
export type Method = 'email' | 'otp' | 'hwk' | 'swk' | 'user' | 'mca' | 'recovery';

/** The response of every sign-in. */
export interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
}
