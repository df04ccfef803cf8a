import type { MailTables } from './mail-tables.ts';
import type { PasskeyTables } from './passkeys/tables.ts';
import type { PendingKind } from './user.ts';

/** Every table of this service. */
export interface Tables extends MailTables, PasskeyTables {
  user: UserRow;
  session: SessionRow;
  refresh_token: { hash: string; session_id: string; generation: number };
  magic_link: MagicLinkRow;
  totp: TotpRow;
  totp_nobody: { bucket: number; failures: number };
  recovery_code: { hash: string; user_id: string; created_at_ms: number };
  failed_attempt: { id: string; kind: string; address_key: string; network: string; at_ms: number };
  audit_event: AuditRow;
}

export interface UserRow {
  id: string;
  email: string;
  verified: number;
  pending_kind: PendingKind | null;
  totp_failures: number;
  created_at_ms: number;
  last_sign_in_at_ms: number;
}

export interface SessionRow {
  id: string;
  user_id: string;
  amr: string;
  authenticated_at_ms: number;
  last_used_at_ms: number;
  expires_at_ms: number;
  generation: number;
  rotated_at_ms: number | null;
  address: string;
  user_agent: string;
}

export interface MagicLinkRow {
  hash: string;
  email: string;
  user_id: string | null;
  code_hash: string;
  code_tries: number;
  used: number;
  created_at_ms: number;
  expires_at_ms: number;
}

export interface TotpRow {
  user_id: string;
  state: 'pending' | 'active';
  secret: string;
  bearer: number;
  last_step: number;
  created_at_ms: number;
}

export interface AuditRow {
  id: string;
  at_ms: number;
  event: string;
  user_id: string | null;
  session_id: string | null;
  address: string | null;
}
