-- The posts of a user in the order of change. It grows at the end of each user's range, so that it costs writes little.
CREATE INDEX post_user_updated ON post (user_id, updated_at_ms);
