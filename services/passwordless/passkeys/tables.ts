/** The tables of passkeys. */
export interface PasskeyTables {
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
