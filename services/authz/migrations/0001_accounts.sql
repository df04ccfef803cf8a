-- uid 1 to 3 belong to the demo accounts; the first real one is 4. Accounts are never deleted, so no uid comes again.
CREATE TABLE account (
  uid integer PRIMARY KEY,
  username text NOT NULL,
  username_key text NOT NULL UNIQUE,
  role text NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  password_hash text NOT NULL,
  disabled integer NOT NULL CHECK (disabled IN (0, 1)),
  demo integer NOT NULL CHECK (demo IN (0, 1)),
  created_at_ms bigint NOT NULL
);

-- The ten latest attempts of one (username, address) that did not succeed, oldest first; 0 where there were fewer.
CREATE TABLE login_attempt (
  login text PRIMARY KEY,
  at_0_ms bigint NOT NULL,
  at_1_ms bigint NOT NULL,
  at_2_ms bigint NOT NULL,
  at_3_ms bigint NOT NULL,
  at_4_ms bigint NOT NULL,
  at_5_ms bigint NOT NULL,
  at_6_ms bigint NOT NULL,
  at_7_ms bigint NOT NULL,
  at_8_ms bigint NOT NULL,
  at_9_ms bigint NOT NULL
);

CREATE INDEX login_attempt_newest ON login_attempt (at_9_ms);
