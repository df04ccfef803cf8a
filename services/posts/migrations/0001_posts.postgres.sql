-- Titles sort by code point, and lower() in SQL means ASCII, whatever the locale: hence the collation "C".
CREATE TABLE post (
  id bigint PRIMARY KEY,
  user_id bigint NOT NULL,
  title text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  revision bigint NOT NULL,
  -- Folded title and body, where lower-casing ASCII does not give them (fold.ts).
  folded text COLLATE "C"
);

CREATE INDEX post_title ON post (title, id);
CREATE INDEX post_created ON post (created_at_ms, id);
CREATE INDEX post_updated ON post (updated_at_ms, id);
CREATE INDEX post_user ON post (user_id, id);
CREATE INDEX post_user_title ON post (user_id, title, id);
CREATE INDEX post_user_updated ON post (user_id, updated_at_ms, id);

-- Without the right to make the extension a search reads every post.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
  EXECUTE 'CREATE INDEX post_search ON post USING gin ((coalesce(folded, lower(title) || ''A'' || lower(body))) public.gin_trgm_ops)';
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'no trigram index: %', SQLERRM;
END
$$;

-- The statistics, kept with each change.
CREATE TABLE post_total (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  last_id bigint NOT NULL,
  last_created_at_ms bigint NOT NULL,
  last_change bigint NOT NULL,
  posts bigint NOT NULL,
  characters bigint NOT NULL
);
INSERT INTO post_total VALUES (1, 0, 0, 0, 0, 0);

CREATE TABLE user_tally (user_id bigint PRIMARY KEY, posts bigint NOT NULL);
CREATE TABLE character_tally (code_point integer PRIMARY KEY, occurrences bigint NOT NULL);
CREATE TABLE length_tally (length integer PRIMARY KEY, posts bigint NOT NULL);
CREATE TABLE hour_tally (hour integer PRIMARY KEY, posts bigint NOT NULL);

CREATE TABLE bulk_reply (
  idempotency_key text PRIMARY KEY,
  digest bytea NOT NULL,
  ids text NOT NULL,
  errors text NOT NULL,
  created_at_ms bigint NOT NULL
);
CREATE INDEX bulk_reply_created ON bulk_reply (created_at_ms);
