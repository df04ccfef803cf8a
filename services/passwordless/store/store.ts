import type { AdminTables } from '@octavo/admin';
import type { HealthTables, Session } from '@octavo/data';
import type { LimitTables } from '@octavo/data/limits';
import type { AccountTables } from '@octavo/people/accounts';
import type { Generated } from 'kysely';
import type { MailTables } from '../mail/index.ts';

/** All tables of the service. */
export interface Tables
  extends HealthTables,
    LimitTables,
    AccountTables,
    AdminTables,
    MailTables,
    PasskeyTables,
    OidcTables {
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

/** Place where queries run: the database, a snapshot or a transaction. */
export type Store = Session<Tables>;

export interface UserRow {
  id: string;
  email: string;
  verified: number;
  pending_kind: 'totp' | 'webauthn' | null;
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
  asker: 'anybody' | 'unverified' | 'owner';
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

interface AuditRow {
  id: string;
  at_ms: number;
  event: string;
  user_id: string | null;
  session_id: string | null;
  address: string | null;
}

interface PasskeyTables {
  passkey_holder: { user_id: string; handle: string };
  passkey: PasskeyRow;
  passkey_ceremony: CeremonyRow;
}

export interface PasskeyRow {
  id: string;
  user_id: string;
  public_key: Uint8Array;
  counter: number;
  transports: string;
  name: string;
  backup_eligible: number;
  backed_up: number;
  created_at_ms: number;
  last_used_at_ms: number | null;
}

export interface CeremonyRow {
  id: string;
  kind: 'register' | 'login';
  challenge: string;
  user_id: string | null;
  session_id: string | null;
  offered: string | null;
  expires_at_ms: number;
}

/** The tables of the OpenID provider. */
interface OidcTables {
  oidc_client: ClientRow;
  user_role: RoleRow;
  oidc_key: KeyRow;
  oidc_record: RecordRow;
  oidc_sign_in: SignInRow;
  oidc_logout: LogoutRow;
}

export interface ClientRow {
  id: string;
  name: string;
  secret_hash: string | null;
  redirect_addresses: string;
  post_logout_addresses: string;
  back_channel_address: string | null;
  audience: string;
  first_party: number;
  created_at_ms: number;
  /** Tries in a row that it did not answer, and the time until which it is left alone. */
  failed_tries: Generated<number>;
  next_try_at_ms: Generated<number>;
}

interface RoleRow {
  user_id: string;
  client_id: string;
  role: string;
  created_at_ms: number;
}

interface KeyRow {
  generation: number;
  private_key: string;
  signs_from_ms: number;
}

interface RecordRow {
  kind: string;
  hash: string;
  payload: string;
  grant_id: string | null;
  session_uid: string | null;
  consumed_at_ms: number | null;
  expires_at_ms: number;
}

interface SignInRow {
  session_uid: string;
  session_id: string | null;
  outlives: number;
  expires_at_ms: number;
}

interface LogoutRow {
  id: string;
  client_id: string;
  user_id: string;
  sid: string;
  tries: number;
  next_try_at_ms: number;
  expires_at_ms: number;
}
