-- Who finds the question, the account that made it, and of a question that was made on a page the SHA-256 of the token that its form stands for.
ALTER TABLE question ADD COLUMN visibility text NOT NULL DEFAULT 'listed' CHECK (visibility IN ('listed', 'link', 'hidden'));
ALTER TABLE question ADD COLUMN owner integer REFERENCES auth_user (id) ON DELETE SET NULL;
ALTER TABLE question ADD COLUMN manage_hash text;

CREATE INDEX question_unlisted ON question (pub_date) WHERE visibility <> 'listed';
CREATE INDEX question_owner ON question (owner, id);
CREATE UNIQUE INDEX question_manage_hash ON question (manage_hash);
