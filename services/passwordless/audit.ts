import type { Clock, Log } from '@octavo/core';
import { newOrderedId } from '@octavo/core';
import { type AuditFacts, AuditTrail } from '@octavo/core/auth';
import type { Registry } from 'prom-client';
import { insertEvent } from './store/audit.ts';
import type { Store } from './store/store.ts';

/** Names of the OWASP Logging Vocabulary. `refresh_race` and the names about sign-in methods are ours. */
type AuditEvent =
  | 'user_created'
  | 'user_verified'
  | 'user_deleted'
  | 'authn_login_success'
  | 'authn_login_fail'
  | 'authn_login_lock'
  | 'authn_token_created'
  | 'authn_token_revoked'
  | 'authn_token_reuse'
  | 'refresh_race'
  | 'enrolment_without_token'
  | 'totp_added'
  | 'totp_removed'
  | 'recovery_codes_made'
  | 'recovery_code_used'
  | 'passkey_added'
  | 'passkey_renamed'
  | 'passkey_removed'
  | 'passkey_cloned';

/** Also writes each event to a table, without e-mail addresses, tokens and codes. */
export class Audit extends AuditTrail<AuditEvent> {
  readonly #clock: Clock;

  constructor({ log, clock, metrics }: { log: Log; clock: Clock; metrics: Registry }) {
    const metric = 'passwordless_events_total';
    super({ log, metrics, metric, alarming: ['authn_login_lock', 'authn_token_reuse', 'passkey_cloned'] });
    this.#clock = clock;
  }

  /** Logs and counts the event, and stores it in the caller's transaction. */
  async record(session: Store, event: AuditEvent, facts: AuditFacts): Promise<void> {
    this.note(event, facts);
    await insertEvent(session, {
      id: newOrderedId(),
      at_ms: this.#clock.now(),
      event,
      user_id: facts.userId ?? null,
      session_id: facts.sessionId ?? null,
      address: facts.address ?? null,
    });
  }
}
