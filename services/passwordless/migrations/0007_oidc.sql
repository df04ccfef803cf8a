-- Applications that sign people in here. The secret is hashed with SHA-256, null for applications that cannot keep one. Addresses are
-- JSON lists; audience is the address of the application's own API.
CREATE TABLE oidc_client (
  id text PRIMARY KEY,
  name text NOT NULL,
  secret_hash text,
  redirect_addresses text NOT NULL,
  post_logout_addresses text NOT NULL,
  back_channel_address text,
  audience text NOT NULL,
  first_party smallint NOT NULL CHECK (first_party IN (0, 1)),
  created_at_ms bigint NOT NULL
);

CREATE INDEX oidc_client_audience ON oidc_client (audience);

-- Roles of users. An empty client_id means every application; it may name one that is registered later.
CREATE TABLE user_role (
  user_id text NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  client_id text NOT NULL,
  role text NOT NULL,
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (user_id, client_id, role)
);

-- Keys that sign ID tokens and access tokens, encrypted. Generations make replicas agree: each is created once. A key is published before
-- it signs, and for a while after the next one does.
CREATE TABLE oidc_key (
  generation integer PRIMARY KEY,
  private_key text NOT NULL,
  signs_from_ms bigint NOT NULL
);

-- State of the provider: sessions, interactions, grants, codes and tokens, by the SHA-256 of their id.
CREATE TABLE oidc_record (
  kind text NOT NULL,
  hash text NOT NULL,
  payload text NOT NULL,
  grant_id text,
  session_uid text,
  consumed_at_ms bigint,
  expires_at_ms bigint NOT NULL,
  PRIMARY KEY (kind, hash)
);

CREATE INDEX oidc_record_grant ON oidc_record (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX oidc_record_session ON oidc_record (session_uid) WHERE session_uid IS NOT NULL;
CREATE INDEX oidc_record_expiry ON oidc_record (expires_at_ms);

-- The sign-in that a session of the provider came from. If that ends by anything but its age, so does the session, in all applications.
CREATE TABLE oidc_sign_in (
  session_uid text PRIMARY KEY,
  session_id text REFERENCES session (id) ON DELETE SET NULL,
  outlives smallint NOT NULL CHECK (outlives IN (0, 1)),
  expires_at_ms bigint NOT NULL
);

CREATE INDEX oidc_sign_in_session ON oidc_sign_in (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX oidc_sign_in_ended ON oidc_sign_in (session_uid) WHERE session_id IS NULL AND outlives = 0;
CREATE INDEX oidc_sign_in_expiry ON oidc_sign_in (expires_at_ms);

-- Applications that were not told yet that a user signed out.
CREATE TABLE oidc_logout (
  id text PRIMARY KEY,
  client_id text NOT NULL REFERENCES oidc_client (id) ON DELETE CASCADE,
  user_id text NOT NULL,
  sid text NOT NULL,
  tries integer NOT NULL,
  next_try_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL
);

CREATE INDEX oidc_logout_due ON oidc_logout (next_try_at_ms);
