-- Different after each change of the password, so that tokens can name the password they were issued for.
ALTER TABLE account ADD COLUMN password_changed_at_ms bigint NOT NULL DEFAULT 0;
UPDATE account SET password_changed_at_ms = created_at_ms;

-- The authenticator app of an account, pending until its first correct code. The secret is encrypted, failures are wrong codes in a row.
CREATE TABLE totp (
  uid integer PRIMARY KEY REFERENCES account (uid) ON DELETE CASCADE,
  secret text NOT NULL,
  enabled integer NOT NULL CHECK (enabled IN (0, 1)),
  last_step bigint NOT NULL,
  failures integer NOT NULL,
  created_at_ms bigint NOT NULL
);

-- Wrong codes of the last hour.
CREATE TABLE totp_failure (
  id text PRIMARY KEY,
  uid integer NOT NULL REFERENCES account (uid) ON DELETE CASCADE,
  network text NOT NULL,
  at_ms bigint NOT NULL
);

CREATE INDEX totp_failure_uid ON totp_failure (uid, at_ms);
CREATE INDEX totp_failure_time ON totp_failure (at_ms);
