-- Wrong passwords are counted in auth_lockout (kit/accounts), beside those of staff.
DROP TABLE login_attempt;

-- What came of each request with an Idempotency-Key of somebody who was not signed in. Keys and requests are HMACs, results hold no tokens.
CREATE TABLE anonymous_key (
  key_hash text PRIMARY KEY,
  owner bigint REFERENCES account (number) ON DELETE CASCADE,
  digest text NOT NULL,
  result text NOT NULL,
  created_at_ms bigint NOT NULL
);
CREATE INDEX anonymous_key_age ON anonymous_key (created_at_ms);
CREATE INDEX anonymous_key_owner ON anonymous_key (owner);
