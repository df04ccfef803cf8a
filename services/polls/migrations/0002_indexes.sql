CREATE INDEX question_published ON question (pub_date, id);

CREATE INDEX choice_question ON choice (question, id);
CREATE UNIQUE INDEX choice_correct ON choice (question) WHERE is_correct = 1;

CREATE INDEX vote_choice ON vote (choice, created_at_ms);

-- Who voted on questions that count each session or address once: a keyed hash.
CREATE TABLE voter (
  question bigint NOT NULL REFERENCES question (id) ON DELETE CASCADE,
  key text NOT NULL,
  PRIMARY KEY (question, key)
);
