import type { Visitor } from '@octavo/core/auth';
import type { JwtClaims, RefreshFamily } from '@octavo/core/jwt';

export interface User {
  readonly id: string;
  /** Normalized. Only `Users.changeEmail` changes it. */
  email: string;
  /** True after a link that was mailed to the address was used. */
  isVerified: boolean;
  readonly createdMs: number;
  passwordHash: string;
  /** Oldest first. Replaced, never changed in place: most users have one session, and an array of exact size is small. */
  sessions: readonly Session[];
}

/** One sign-in, with all tokens that came from it. */
export interface Session extends RefreshFamily {
  readonly id: string;
  readonly user: User;
  readonly createdMs: number;
  /** Time at which the newest refresh token expires. */
  expiresMs: number;
  lastUsedMs: number;
  /** SHA-256 of the active refresh token's `jti`. Older tokens are recognized by their generation. */
  tokenHash: string;
  generation: number;
  rotatedMs: number | undefined;
  readonly visitor: Visitor;
}

export interface AccessClaims extends JwtClaims {
  readonly sid: string;
}

/** The sender of a request, according to its access token. */
export interface Caller {
  readonly user: User;
  readonly session: Session;
  readonly claims: AccessClaims;
}

/** Mails about an account, and the links in them. */
export interface AccountMails {
  /** True if addresses must be verified before they get tokens. */
  readonly isVerificationRequired: boolean;
  /** Mails a link to verify the address, unless it is verified or was sent too many. */
  sendVerification(user: User): void;
  /** Voids the links of a user. */
  forget(user: User): void;
  /** Mails a notice about a change. */
  notify(notice: 'password-changed' | 'email-changed', to: string): void;
}
