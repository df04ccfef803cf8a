import type { Session } from './sessions.ts';
import type { AccessClaims } from './tokens.ts';
import type { User } from './users.ts';

/** Who holds the access token of a request. */
export interface Caller {
  readonly user: User;
  readonly session: Session;
  readonly claims: AccessClaims;
}
