-- Ids and created_at_ms rise together (post_total hands them out), so one narrow index serves both orders.
CREATE TABLE post (
  id integer PRIMARY KEY,
  user_id integer NOT NULL,
  title text NOT NULL,
  body text NOT NULL,
  created_at_ms integer NOT NULL,
  updated_at_ms integer NOT NULL,
  revision integer NOT NULL,
  -- Folded title and body, where lower-casing ASCII does not give them (fold.ts).
  folded text
) STRICT;

CREATE INDEX post_created ON post (created_at_ms);
CREATE INDEX post_updated ON post (updated_at_ms);
CREATE INDEX post_user ON post (user_id);

-- The statistics, kept with each change.
CREATE TABLE post_total (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  last_id integer NOT NULL,
  last_created_at_ms integer NOT NULL,
  last_change integer NOT NULL,
  posts integer NOT NULL,
  characters integer NOT NULL
) STRICT;
INSERT INTO post_total VALUES (1, 0, 0, 0, 0, 0);

CREATE TABLE user_tally (user_id integer PRIMARY KEY, posts integer NOT NULL) STRICT;
CREATE TABLE character_tally (code_point integer PRIMARY KEY, occurrences integer NOT NULL) STRICT;
CREATE TABLE length_tally (length integer PRIMARY KEY, posts integer NOT NULL) STRICT;
CREATE TABLE hour_tally (hour integer PRIMARY KEY, posts integer NOT NULL) STRICT;

CREATE TABLE bulk_reply (
  idempotency_key text PRIMARY KEY,
  digest blob NOT NULL,
  ids text NOT NULL,
  errors text NOT NULL,
  created_at_ms integer NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_reply_created ON bulk_reply (created_at_ms);

-- The search index (services/posts/README.md). A segment covers the ids from first_id on, `span` of them.
CREATE TABLE search_segment (
  id integer PRIMARY KEY AUTOINCREMENT,
  first_id integer NOT NULL,
  span integer NOT NULL,
  state text NOT NULL CHECK (state IN ('building', 'live', 'dead'))
) STRICT;

CREATE TABLE search_page (
  id integer PRIMARY KEY,
  segment_id integer NOT NULL,
  kind integer NOT NULL,
  first_key blob NOT NULL,
  data blob NOT NULL,
  UNIQUE (segment_id, kind, first_key)
) STRICT;

-- Posts that were changed or deleted since their segment was built, and by which change.
CREATE TABLE search_stale (post_id integer PRIMARY KEY, change integer NOT NULL) STRICT;

CREATE TABLE search_lease (only_row integer PRIMARY KEY CHECK (only_row = 1), holder text NOT NULL, until_ms integer NOT NULL) STRICT;
INSERT INTO search_lease VALUES (1, '', 0);
