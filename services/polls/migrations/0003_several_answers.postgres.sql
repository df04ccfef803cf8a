-- How many choices one vote may name, and the votes on choices beyond the first of each ballot: people who voted are all votes without these.
ALTER TABLE question ADD COLUMN max_choices smallint NOT NULL DEFAULT 1 CHECK (max_choices BETWEEN 1 AND 20);
ALTER TABLE question ADD COLUMN extra_votes bigint NOT NULL DEFAULT 0;

-- Whoever voted for a choice that is deleted still voted.
CREATE FUNCTION choice_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE question SET extra_votes = extra_votes - old.votes WHERE id = old.question;
  RETURN NULL;
END
$$;
CREATE TRIGGER choice_deleted AFTER DELETE ON choice FOR EACH ROW WHEN (old.votes > 0) EXECUTE FUNCTION choice_deleted();
