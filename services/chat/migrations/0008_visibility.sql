-- The title that somebody gave to a document, in place of its own.
ALTER TABLE document ADD COLUMN given_title text;
-- Whether everybody could read it before documents had a visibility, until that is decided again.
ALTER TABLE document ADD COLUMN was_shared smallint NOT NULL DEFAULT 0;
-- The same bytes are one document of an owner; others do not learn that they are there.
DROP INDEX document_bytes;
CREATE UNIQUE INDEX document_bytes ON document (library, owner, sha256) WHERE status IN ('processing', 'indexed');
-- The process that starts next knows by its settings whose these are; see documents/store/settle.ts.
UPDATE library SET key = 'unsettled' WHERE key = 'shared';
-- Names of people, for administrators.
CREATE TABLE person (
  account text PRIMARY KEY,
  name text NOT NULL
);
