-- Requests that count against limits which all processes of a service share.
CREATE TABLE rate_limit (
  -- A hash of the name of the limit and of who is limited.
  key text PRIMARY KEY,
  -- JSON: when each counted request came, in milliseconds since 1970.
  times text NOT NULL,
  -- When none of them counts anymore.
  until_ms bigint NOT NULL
);
CREATE INDEX rate_limit_until ON rate_limit (until_ms);
