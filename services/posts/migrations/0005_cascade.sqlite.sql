-- A sentiment goes with its post.
CREATE TABLE sentiment (
  post_id integer PRIMARY KEY REFERENCES post ON DELETE CASCADE,
  revision integer NOT NULL,
  label text NOT NULL CHECK (label IN ('negative', 'neutral', 'positive')),
  negative real NOT NULL,
  neutral real NOT NULL,
  positive real NOT NULL,
  model text NOT NULL,
  classified_at_ms integer NOT NULL
) STRICT;
INSERT INTO sentiment SELECT * FROM post_sentiment WHERE post_id IN (SELECT id FROM post);
DROP TABLE post_sentiment;
ALTER TABLE sentiment RENAME TO post_sentiment;
