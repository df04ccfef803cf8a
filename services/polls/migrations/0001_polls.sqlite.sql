-- Times of questions are texts in UTC with six decimals, which are in the order of time.
CREATE TABLE question (
  id integer PRIMARY KEY AUTOINCREMENT,
  question_text text NOT NULL,
  pub_date text NOT NULL,
  closes_at text,
  results text NOT NULL DEFAULT 'always' CHECK (results IN ('always', 'after_vote', 'after_close')),
  duplicates text NOT NULL DEFAULT 'none' CHECK (duplicates IN ('none', 'session', 'address'))
);

CREATE TABLE choice (
  id integer PRIMARY KEY AUTOINCREMENT,
  question integer NOT NULL REFERENCES question (id) ON DELETE CASCADE,
  choice_text text NOT NULL,
  is_correct smallint NOT NULL DEFAULT 0 CHECK (is_correct IN (0, 1)),
  votes bigint NOT NULL DEFAULT 0
);

-- Every vote that was counted in choice.votes.
CREATE TABLE vote (
  id integer PRIMARY KEY AUTOINCREMENT,
  choice integer NOT NULL REFERENCES choice (id) ON DELETE CASCADE,
  created_at_ms bigint NOT NULL
);
