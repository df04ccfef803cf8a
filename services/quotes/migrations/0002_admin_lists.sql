-- The orders and filters of lists in the admin.
CREATE INDEX quote_created ON quote (created_at_ms, id);
CREATE INDEX quote_author_name ON quote (author, id);
CREATE INDEX quote_attribution ON quote (attribution, created_at_ms, id);
CREATE INDEX quote_state ON quote (is_published, created_at_ms, id);
CREATE INDEX quote_category_created ON quote (category_id, created_at_ms, id);
CREATE INDEX comment_created ON comment (created_at_ms, id);
