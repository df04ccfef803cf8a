import type { Session } from './session.ts';
import type { User } from './user.ts';

/** Who holds the access token of a request. */
export interface Caller {
  readonly user: User;
  readonly session: Session;
}
