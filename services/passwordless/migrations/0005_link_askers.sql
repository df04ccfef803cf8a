-- Who asked for a link: somebody without a token, or a user of the address with theirs. Each kind has limits of its own. Who asked no longer
-- decides who becomes the owner, so the user is not stored.
ALTER TABLE magic_link ADD COLUMN asker text NOT NULL DEFAULT 'anybody' CHECK (asker IN ('anybody', 'unverified', 'owner'));
DROP INDEX magic_link_user;
ALTER TABLE magic_link DROP COLUMN user_id;
DROP INDEX magic_link_email;
DROP INDEX magic_link_live;
CREATE INDEX magic_link_email ON magic_link (email, asker, created_at_ms);
CREATE INDEX magic_link_live ON magic_link (email, asker, created_at_ms) WHERE used = 0;
