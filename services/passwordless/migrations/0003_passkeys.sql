-- What authenticators know a user by (user.id of WebAuthn): 32 random bytes, which tell nothing of the address.
CREATE TABLE passkey_holder (
  user_id text PRIMARY KEY REFERENCES "user" (id) ON DELETE CASCADE,
  handle text NOT NULL UNIQUE
);

CREATE TABLE passkey (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text NOT NULL,
  name text NOT NULL,
  backup_eligible smallint NOT NULL CHECK (backup_eligible IN (0, 1)),
  backed_up smallint NOT NULL CHECK (backed_up IN (0, 1)),
  created_at_ms bigint NOT NULL,
  last_used_at_ms bigint
);

CREATE INDEX passkey_user ON passkey (user_id, created_at_ms);

-- Challenges that were handed out and not answered yet. A registration is for a user; session_id is the session whose token asked
-- for it: the registration ends with that session. discoverable says that a sign-in named no address.
CREATE TABLE passkey_ceremony (
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('register', 'login')),
  challenge text NOT NULL,
  user_id text REFERENCES "user" (id) ON DELETE CASCADE,
  session_id text REFERENCES session (id) ON DELETE CASCADE,
  discoverable smallint NOT NULL CHECK (discoverable IN (0, 1)),
  expires_at_ms bigint NOT NULL
);

CREATE INDEX passkey_ceremony_expiry ON passkey_ceremony (expires_at_ms);
CREATE INDEX passkey_ceremony_user ON passkey_ceremony (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX passkey_ceremony_session ON passkey_ceremony (session_id) WHERE session_id IS NOT NULL;
