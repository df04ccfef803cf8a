-- An address belongs to a user only once a link sent there was used (verified = 1). All others merely wear it as a label: as long
-- as they have proved no factor, pending_kind says which one they are about to prove, one user a kind and address.
CREATE TABLE "user" (
  id text PRIMARY KEY,
  email text NOT NULL,
  verified smallint NOT NULL CHECK (verified IN (0, 1)),
  pending_kind text CHECK (pending_kind IN ('totp', 'webauthn')),
  totp_failures integer NOT NULL,
  created_at_ms bigint NOT NULL,
  last_sign_in_at_ms bigint NOT NULL
);

CREATE UNIQUE INDEX user_owner ON "user" (email) WHERE verified = 1;
CREATE UNIQUE INDEX user_pending ON "user" (email, pending_kind) WHERE pending_kind IS NOT NULL;
CREATE INDEX user_email ON "user" (email);
CREATE INDEX user_unproven ON "user" (created_at_ms) WHERE pending_kind IS NOT NULL;

-- One sign-in and all tokens that came from it. Of these the one of the session's generation is active; those before it were
-- exchanged, the last one at rotated_at_ms.
CREATE TABLE session (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  amr text NOT NULL,
  authenticated_at_ms bigint NOT NULL,
  last_used_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  generation integer NOT NULL,
  rotated_at_ms bigint,
  address text NOT NULL,
  user_agent text NOT NULL
);

CREATE INDEX session_of_user ON session (user_id, authenticated_at_ms);
CREATE INDEX session_expiry ON session (expires_at_ms);

-- SHA-256 of each refresh token, kept as long as its session, so that an old one that comes again is known.
CREATE TABLE refresh_token (
  hash text PRIMARY KEY,
  session_id text NOT NULL REFERENCES session (id) ON DELETE CASCADE,
  generation integer NOT NULL
);

CREATE INDEX refresh_token_session ON refresh_token (session_id);

-- user_id is the user with whose own token the link was asked for.
CREATE TABLE magic_link (
  hash text PRIMARY KEY,
  email text NOT NULL,
  user_id text REFERENCES "user" (id) ON DELETE SET NULL,
  code_hash text NOT NULL,
  code_tries integer NOT NULL,
  used smallint NOT NULL CHECK (used IN (0, 1)),
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL
);

CREATE INDEX magic_link_email ON magic_link (email, created_at_ms);
CREATE INDEX magic_link_live ON magic_link (email, created_at_ms) WHERE used = 0;
CREATE INDEX magic_link_expiry ON magic_link (expires_at_ms);
CREATE INDEX magic_link_user ON magic_link (user_id) WHERE user_id IS NOT NULL;

-- The secret is encrypted. A pending one was not proved yet; bearer says that its user's own token asked for it.
CREATE TABLE totp (
  user_id text NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  state text NOT NULL CHECK (state IN ('pending', 'active')),
  secret text NOT NULL,
  bearer smallint NOT NULL CHECK (bearer IN (0, 1)),
  last_step bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (user_id, state)
);

-- A wrong code for nobody counts here, so that it takes as long as one for somebody. In many rows, lest they wait for each other.
CREATE TABLE totp_nobody (
  bucket integer PRIMARY KEY,
  failures bigint NOT NULL
);

INSERT INTO totp_nobody
WITH RECURSIVE bucket (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM bucket WHERE number < 63)
SELECT number, 0 FROM bucket;

CREATE TABLE recovery_code (
  hash text PRIMARY KEY,
  user_id text NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  created_at_ms bigint NOT NULL
);

CREATE INDEX recovery_code_user ON recovery_code (user_id);

-- Codes that were wrong, by a hash of the address they were for.
CREATE TABLE failed_attempt (
  id text PRIMARY KEY,
  kind text NOT NULL,
  address_key text NOT NULL,
  network text NOT NULL,
  at_ms bigint NOT NULL
);

CREATE INDEX failed_attempt_address ON failed_attempt (address_key, at_ms);
CREATE INDEX failed_attempt_age ON failed_attempt (at_ms);

-- What an auditor asks about; users are named by id alone, so that rows may outlive them.
CREATE TABLE audit_event (
  id text PRIMARY KEY,
  at_ms bigint NOT NULL,
  event text NOT NULL,
  user_id text,
  session_id text,
  address text
);

CREATE INDEX audit_event_age ON audit_event (at_ms);
CREATE INDEX audit_event_user ON audit_event (user_id, at_ms);
