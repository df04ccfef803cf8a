CREATE INDEX auth_token_user ON auth_token (user_id, last_used_at_ms);
