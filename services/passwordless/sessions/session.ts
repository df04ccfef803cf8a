import type { Visitor } from '#kit/auth/visitor.ts';

/** One sign-in and all tokens that came from it. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  /** How the user signed in, in the words of RFC 8176. */
  readonly amr: readonly Method[];
  /** When; exchanging tokens keeps it. */
  readonly authenticatedMs: number;
  readonly lastUsedMs: number;
  /** When its newest refresh token ends. */
  readonly expiresMs: number;
  readonly generation: number;
  readonly rotatedMs: number | undefined;
  readonly visitor: Visitor;
}

/** Authentication methods (RFC 8176); `email` and `recovery` are ours. */
export type Method = 'email' | 'otp' | 'hwk' | 'swk' | 'user' | 'mca' | 'recovery';

/** What every way to sign in answers. */
export interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
}
