-- When the posts of a reply were created, which a replay says again.
ALTER TABLE bulk_reply ADD COLUMN posts_created_at_ms bigint;
