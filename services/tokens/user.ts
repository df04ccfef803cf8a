import type { JwtClaims } from '#kit/auth/jwt.ts';
import type { RefreshFamily } from '#kit/auth/refresh.ts';
import type { Visitor } from '#kit/auth/visitor.ts';

export interface User {
  readonly id: string;
  /** Normalized. Only `Users.changeEmail` changes it. */
  email: string;
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
  /** When the newest refresh token expires. */
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

/** Who sent a request, as its access token says. */
export interface Caller {
  readonly user: User;
  readonly session: Session;
  readonly claims: AccessClaims;
}
