-- Deleted posts as they were, until they are too old to be restored.
CREATE TABLE deleted_post (
  id bigint PRIMARY KEY,
  user_id bigint NOT NULL,
  title text NOT NULL,
  body text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  revision bigint NOT NULL,
  deleted_at_ms bigint NOT NULL
);
CREATE INDEX deleted_post_time ON deleted_post (deleted_at_ms, id);
