CREATE TABLE note (
  id integer PRIMARY KEY,
  title text NOT NULL,
  body text NOT NULL,
  normalized text,
  indexed integer NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX note_pending ON note (id) WHERE indexed = 0;
CREATE VIRTUAL TABLE note_trigram USING fts5(text, content='', contentless_delete=1, tokenize='trigram case_sensitive 1');
CREATE VIRTUAL TABLE note_gram USING fts5(grams, content='', contentless_delete=1, detail=none, tokenize='ascii');

CREATE TRIGGER note_changed AFTER UPDATE OF title, body ON note WHEN old.indexed = 1 BEGIN
  DELETE FROM note_trigram WHERE rowid = old.id;
  DELETE FROM note_gram WHERE rowid = old.id;
  UPDATE note SET indexed = 0 WHERE id = old.id;
END;

CREATE TRIGGER note_deleted AFTER DELETE ON note WHEN old.indexed = 1 BEGIN
  DELETE FROM note_trigram WHERE rowid = old.id;
  DELETE FROM note_gram WHERE rowid = old.id;
END;

CREATE VIRTUAL TABLE note_words USING fts5(
  title, title_word, body, body_word, content='', contentless_delete=1,
  tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'"
);
CREATE TRIGGER note_words_deleted AFTER DELETE ON note BEGIN
  DELETE FROM note_words WHERE rowid = old.id;
END;

CREATE VIRTUAL TABLE note_terms USING fts5(
  terms, content='', contentless_delete=1,
  tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'"
);
CREATE TRIGGER note_terms_deleted AFTER DELETE ON note BEGIN
  DELETE FROM note_terms WHERE rowid = old.id;
END;
