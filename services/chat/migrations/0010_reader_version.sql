-- Version of the reader of files that made the text of a document; 0 for texts from before it was noted.
ALTER TABLE document ADD COLUMN reader_version integer NOT NULL DEFAULT 0;
CREATE INDEX document_reader ON document (reader_version);
-- The number that a document had when it was uploaded, which orders replacements; null until it is read again and gets another one.
ALTER TABLE document ADD COLUMN first_id bigint;
