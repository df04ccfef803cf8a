-- A category is found by name_key, its name without regard to case. The triggers below count its published quotes.
CREATE TABLE category (
  id integer PRIMARY KEY AUTOINCREMENT,
  name text NOT NULL,
  name_key text NOT NULL UNIQUE,
  slug text NOT NULL UNIQUE,
  quotes integer NOT NULL DEFAULT 0
) STRICT;

-- fingerprint is the SHA-256 of author and text without regard to case, accents, punctuation and spaces. day_round and day_key
-- are the place of a quote among those that were not yet the quote of the day.
CREATE TABLE quote (
  id integer PRIMARY KEY AUTOINCREMENT,
  text text NOT NULL,
  author text NOT NULL,
  author_key text NOT NULL,
  category_id integer NOT NULL REFERENCES category (id) ON DELETE CASCADE,
  source text NOT NULL,
  attribution text NOT NULL CHECK (attribution IN ('unverified', 'verified', 'disputed', 'misattributed')),
  fingerprint text NOT NULL UNIQUE,
  is_published integer NOT NULL CHECK (is_published IN (0, 1)),
  created_by integer REFERENCES auth_user (id) ON DELETE SET NULL,
  created_at_ms integer NOT NULL,
  updated_at_ms integer NOT NULL,
  day_round integer NOT NULL,
  day_key integer NOT NULL
) STRICT;

CREATE INDEX quote_category ON quote (category_id, is_published, id);
CREATE INDEX quote_author ON quote (author_key, is_published, id);
CREATE INDEX quote_published ON quote (is_published, id);
CREATE INDEX quote_creator ON quote (created_by);
CREATE INDEX quote_day ON quote (is_published, day_round, day_key);

CREATE TRIGGER quote_inserted AFTER INSERT ON quote WHEN new.is_published = 1 BEGIN
  UPDATE category SET quotes = quotes + 1 WHERE id = new.category_id;
END;
CREATE TRIGGER quote_moved AFTER UPDATE OF category_id, is_published ON quote BEGIN
  UPDATE category SET quotes = quotes - old.is_published WHERE id = old.category_id;
  UPDATE category SET quotes = quotes + new.is_published WHERE id = new.category_id;
END;
CREATE TRIGGER quote_deleted AFTER DELETE ON quote BEGIN
  UPDATE category SET quotes = quotes - old.is_published WHERE id = old.category_id;
  DELETE FROM quote_words WHERE rowid = old.id;
END;

CREATE VIRTUAL TABLE quote_words USING fts5(
  terms, content='', contentless_delete=1,
  tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'"
);

CREATE TABLE quote_like (
  id integer PRIMARY KEY AUTOINCREMENT,
  quote_id integer NOT NULL REFERENCES quote (id) ON DELETE CASCADE,
  user_id integer NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
  created_at_ms integer NOT NULL,
  UNIQUE (quote_id, user_id)
) STRICT;

CREATE INDEX quote_like_ids ON quote_like (quote_id, id);
CREATE INDEX quote_like_user ON quote_like (user_id);

CREATE TABLE comment (
  id integer PRIMARY KEY AUTOINCREMENT,
  quote_id integer NOT NULL REFERENCES quote (id) ON DELETE CASCADE,
  user_id integer NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
  text text NOT NULL,
  created_at_ms integer NOT NULL
) STRICT;

CREATE INDEX comment_quote ON comment (quote_id, id);
CREATE INDEX comment_user ON comment (user_id);

-- Readers report a quote at most once while their report is open.
CREATE TABLE report (
  id integer PRIMARY KEY AUTOINCREMENT,
  quote_id integer NOT NULL REFERENCES quote (id) ON DELETE CASCADE,
  user_id integer NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
  reason text NOT NULL CHECK (reason IN ('misattributed', 'duplicate', 'offensive', 'typo', 'other')),
  note text NOT NULL,
  status text NOT NULL CHECK (status IN ('open', 'resolved', 'dismissed')),
  created_at_ms integer NOT NULL
) STRICT;

CREATE UNIQUE INDEX report_open ON report (quote_id, user_id) WHERE status = 'open';
CREATE INDEX report_status ON report (status, id);
CREATE INDEX report_user ON report (user_id);

-- The choice for each day (UTC) on which one was needed.
CREATE TABLE quote_of_day (
  day text PRIMARY KEY,
  quote_id integer NOT NULL REFERENCES quote (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX quote_of_day_quote ON quote_of_day (quote_id);

-- The refresh tokens of one sign-in. The one of this generation is active; the one before it was exchanged at rotated_at_ms.
CREATE TABLE token_family (
  id text PRIMARY KEY,
  user_id integer NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
  generation integer NOT NULL,
  rotated_at_ms integer,
  created_at_ms integer NOT NULL,
  expires_at_ms integer NOT NULL,
  is_revoked integer NOT NULL CHECK (is_revoked IN (0, 1))
) STRICT;

CREATE INDEX token_family_user ON token_family (user_id);
CREATE INDEX token_family_expiry ON token_family (expires_at_ms);
