-- People of an OpenID provider, and the accounts that they are connected to. A realm is a kind of accounts of the service.
CREATE TABLE oidc_identity (
  realm text NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  account text NOT NULL,
  -- Separated by spaces.
  roles text NOT NULL,
  connected_at_ms bigint NOT NULL,
  -- When the provider last said that these are the roles, and when it was last asked.
  confirmed_at_ms bigint NOT NULL,
  asked_at_ms bigint NOT NULL,
  PRIMARY KEY (realm, issuer, subject)
);

CREATE UNIQUE INDEX oidc_identity_account ON oidc_identity (realm, issuer, account);
CREATE INDEX oidc_identity_asked ON oidc_identity (asked_at_ms) WHERE roles <> '';

-- Sessions that began at the provider, by a key of the service. Tokens are encrypted.
CREATE TABLE oidc_session (
  key text PRIMARY KEY,
  realm text NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  sid text,
  id_token text NOT NULL,
  refresh_token text,
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL
);

CREATE INDEX oidc_session_subject ON oidc_session (subject);
CREATE INDEX oidc_session_sid ON oidc_session (sid);
CREATE INDEX oidc_session_expiry ON oidc_session (expires_at_ms);

-- Attempts that are used up, by the SHA-256 of their state.
CREATE TABLE oidc_attempt (
  hash text PRIMARY KEY,
  expires_at_ms bigint NOT NULL
);

CREATE INDEX oidc_attempt_expiry ON oidc_attempt (expires_at_ms);

-- Grants to end at the provider, which did not answer yet.
CREATE TABLE oidc_revocation (
  id text PRIMARY KEY,
  token text NOT NULL,
  tries integer NOT NULL,
  next_try_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL
);

CREATE INDEX oidc_revocation_due ON oidc_revocation (next_try_at_ms);
