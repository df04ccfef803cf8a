CREATE INDEX auth_user_superuser ON auth_user (is_superuser) WHERE is_superuser = 1;

-- model is "app/model" and action one of view, add, change and delete.
CREATE TABLE auth_group_permission (
  group_id integer NOT NULL REFERENCES auth_group (id) ON DELETE CASCADE,
  model text NOT NULL,
  action text NOT NULL CHECK (action IN ('view', 'add', 'change', 'delete')),
  PRIMARY KEY (group_id, model, action)
);

CREATE TABLE auth_membership (
  user_id integer NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
  group_id integer NOT NULL REFERENCES auth_group (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, group_id)
);

CREATE INDEX auth_membership_group ON auth_membership (group_id);

-- A browser that is signed in, by the SHA-256 of its token.
CREATE TABLE auth_session (
  hash text PRIMARY KEY,
  user_id integer NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
  created_at_ms bigint NOT NULL,
  last_used_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  address text NOT NULL,
  user_agent text NOT NULL
);

CREATE INDEX auth_session_user ON auth_session (user_id);
CREATE INDEX auth_session_expiry ON auth_session (expires_at_ms);

-- Wrong passwords in a row, by the SHA-256 of whom they were for; an attempt that is being checked counts as one.
CREATE TABLE auth_lockout (
  key text PRIMARY KEY,
  failures integer NOT NULL,
  last_failure_at_ms bigint NOT NULL
);

CREATE INDEX auth_lockout_age ON auth_lockout (last_failure_at_ms);

-- The SHA-256 of each live link that creates the first administrator.
CREATE TABLE auth_setup_link (
  hash text PRIMARY KEY,
  expires_at_ms bigint NOT NULL
);

-- Keys that nobody set, so that all replicas use the same.
CREATE TABLE auth_secret (
  name text PRIMARY KEY,
  value text NOT NULL
);
