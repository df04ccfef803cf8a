-- Comments of people who leave stay without their author.
ALTER TABLE comment ALTER COLUMN user_id DROP NOT NULL;
ALTER TABLE comment DROP CONSTRAINT comment_user_id_fkey;
ALTER TABLE comment ADD CONSTRAINT comment_user_id_fkey
  FOREIGN KEY (user_id) REFERENCES auth_user (id) ON DELETE SET NULL;
