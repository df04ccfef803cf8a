-- The round of the quote of the day that runs. Quotes with a later day_round were there in it already.
CREATE TABLE daily_round (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  round integer NOT NULL
) STRICT;

INSERT INTO daily_round (only_row, round)
  SELECT 1, CASE WHEN max(day_round) > 0 THEN max(day_round) - 1 ELSE 0 END FROM quote;

-- A change of a published quote that waits for staff, one an author. Null is a field that it leaves as it is. base_text is the text
-- that was published when it was proposed.
CREATE TABLE quote_change (
  id integer PRIMARY KEY AUTOINCREMENT,
  quote_id integer NOT NULL REFERENCES quote (id) ON DELETE CASCADE,
  user_id integer NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
  base_text text NOT NULL,
  text text,
  author text,
  category text,
  source text,
  attribution text CHECK (attribution IN ('unverified', 'verified', 'disputed', 'misattributed')),
  created_at_ms integer NOT NULL,
  UNIQUE (quote_id, user_id)
) STRICT;

CREATE INDEX quote_change_user ON quote_change (user_id);
CREATE INDEX quote_change_created ON quote_change (created_at_ms, id);
