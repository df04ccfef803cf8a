-- The search index (kit/search). Posts are indexed after they were written; until then `indexed` is 0.
ALTER TABLE post ADD COLUMN indexed integer NOT NULL DEFAULT 0;
CREATE INDEX post_pending ON post (id) WHERE indexed = 0;
CREATE VIRTUAL TABLE post_trigram USING fts5(text, content='', contentless_delete=1, tokenize='trigram case_sensitive 1');
CREATE VIRTUAL TABLE post_gram USING fts5(grams, content='', contentless_delete=1, detail=none, tokenize='ascii');
INSERT INTO post_trigram (post_trigram, rank) VALUES ('automerge', 8);
INSERT INTO post_gram (post_gram, rank) VALUES ('automerge', 8);

-- Titles come in no order. Their index has indexed posts only, so it does not slow down the writing of posts.
CREATE INDEX post_title ON post (title) WHERE indexed = 1;

CREATE TRIGGER post_changed AFTER UPDATE OF title, body ON post WHEN old.indexed = 1 BEGIN
  DELETE FROM post_trigram WHERE rowid = old.id;
  DELETE FROM post_gram WHERE rowid = old.id;
  UPDATE post SET indexed = 0 WHERE id = old.id;
END;

CREATE TRIGGER post_deleted AFTER DELETE ON post WHEN old.indexed = 1 BEGIN
  DELETE FROM post_trigram WHERE rowid = old.id;
  DELETE FROM post_gram WHERE rowid = old.id;
END;

-- The index that was made by hand.
DROP TABLE search_page;
DROP TABLE search_segment;
DROP TABLE search_stale;
DROP TABLE search_lease;
