import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import type { Alerts } from './alerts.ts';
import type { Audit } from './audit.ts';
import type { MailQueue } from './mail-queue.ts';
import type { RelyingParty } from './passkey.ts';
import type { Sessions } from './sessions.ts';
import type { Tables } from './tables.ts';

/** What passkeys are made of. */
export interface PasskeyParts {
  readonly database: Database<Tables>;
  readonly sessions: Sessions;
  readonly audit: Audit;
  readonly mails: MailQueue;
  readonly alerts: Alerts;
  readonly clock: Clock;
  /** Asked at each ceremony: by default it is known once the service listens. */
  readonly party: () => RelyingParty;
  readonly decoyKey: Uint8Array;
  readonly enrollmentWithoutProof: 'provisional' | 'inert' | 'off';
}
