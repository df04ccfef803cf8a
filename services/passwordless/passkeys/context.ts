import type { Clock } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Audit } from '../audit.ts';
import type { MailQueue } from '../mail/index.ts';
import type { Sessions } from '../sessions/index.ts';
import type { Tables } from '../store/store.ts';
import type { UnprovenEnrollment } from '../users/index.ts';
import type { RelyingParty } from './passkey.ts';

/** Dependencies of the passkey functions. */
export interface PasskeyContext {
  readonly database: Database<Tables>;
  readonly sessions: Sessions;
  readonly audit: Audit;
  readonly mails: MailQueue;
  readonly clock: Clock;
  /** A function, because the default is known only once the service listens. */
  readonly relyingParty: () => RelyingParty;
  /** The one that new decoys are made with, then the previous one. */
  readonly decoyKeys: readonly [Uint8Array, ...Uint8Array[]];
  readonly unprovenEnrollment: UnprovenEnrollment;
}
