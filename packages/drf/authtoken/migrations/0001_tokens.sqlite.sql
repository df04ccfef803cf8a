-- Tokens of users by their SHA-256; hint is how a token begins, so that users can tell theirs apart.
CREATE TABLE auth_token (
  id integer PRIMARY KEY AUTOINCREMENT,
  user_id integer NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
  hash text NOT NULL UNIQUE,
  hint text NOT NULL,
  created_at_ms bigint NOT NULL,
  last_used_at_ms bigint NOT NULL
);
