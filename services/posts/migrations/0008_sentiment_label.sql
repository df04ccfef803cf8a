-- Finds and counts the posts that were classified so, by id.
CREATE INDEX post_sentiment_label ON post_sentiment (label, post_id);
