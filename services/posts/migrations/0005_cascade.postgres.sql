-- A sentiment goes with its post.
DELETE FROM post_sentiment WHERE NOT EXISTS (SELECT FROM post WHERE post.id = post_id);
ALTER TABLE post_sentiment ADD FOREIGN KEY (post_id) REFERENCES post ON DELETE CASCADE;
