-- Comments of people who leave stay without their author. SQLite changes no column, so the rows move to a new table, which keeps numbers that
-- were given away.
CREATE TABLE comment_new (
  id integer PRIMARY KEY AUTOINCREMENT,
  quote_id integer NOT NULL REFERENCES quote (id) ON DELETE CASCADE,
  user_id integer REFERENCES auth_user (id) ON DELETE SET NULL,
  text text NOT NULL,
  created_at_ms integer NOT NULL
) STRICT;

INSERT INTO comment_new (id, quote_id, user_id, text, created_at_ms)
  SELECT id, quote_id, user_id, text, created_at_ms FROM comment;
DELETE FROM sqlite_sequence WHERE name = 'comment_new';
INSERT INTO sqlite_sequence (name, seq) SELECT 'comment_new', seq FROM sqlite_sequence WHERE name = 'comment';
DROP TABLE comment;
ALTER TABLE comment_new RENAME TO comment;

CREATE INDEX comment_quote ON comment (quote_id, id);
CREATE INDEX comment_user ON comment (user_id);
CREATE INDEX comment_created ON comment (created_at_ms, id);
