-- How somebody rated an answer, once for each; a later rating replaces it.
CREATE TABLE feedback (
  message text PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
  rating text NOT NULL CHECK (rating IN ('up', 'down')),
  comment text NOT NULL,
  rated_at_ms bigint NOT NULL
);
