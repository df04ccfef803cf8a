import type { Log } from '@octavo/core';
import { AuditTrail } from '@octavo/core/auth';
import type { Registry } from 'prom-client';

/** Names from the OWASP Logging Vocabulary, and our own `refresh_race` and `authn_password_reset_request`. */
export type AuditEvent =
  | 'user_created'
  | 'user_updated'
  | 'user_deleted'
  | 'authn_login_success'
  | 'authn_login_fail'
  | 'authn_login_lock'
  | 'authn_password_change'
  | 'authn_password_change_fail'
  | 'authn_password_reset_request'
  | 'authn_token_created'
  | 'authn_token_revoked'
  | 'authn_token_reuse'
  | 'refresh_race';

/** Never records e-mail addresses, passwords or tokens. */
export class Audit extends AuditTrail<AuditEvent> {
  constructor(log: Log, metrics: Registry) {
    super({
      log,
      metrics,
      metric: 'tokens_events_total',
      alarming: ['authn_login_lock', 'authn_token_reuse'],
    });
  }
}
