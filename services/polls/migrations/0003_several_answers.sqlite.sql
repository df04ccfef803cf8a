-- How many choices one vote may name, and the votes on choices beyond the first of each ballot: people who voted are all votes without these.
ALTER TABLE question ADD COLUMN max_choices smallint NOT NULL DEFAULT 1 CHECK (max_choices BETWEEN 1 AND 20);
ALTER TABLE question ADD COLUMN extra_votes bigint NOT NULL DEFAULT 0;

-- Whoever voted for a choice that is deleted still voted.
CREATE TRIGGER choice_deleted AFTER DELETE ON choice WHEN old.votes > 0 BEGIN
  UPDATE question SET extra_votes = extra_votes - old.votes WHERE id = old.question;
END;
