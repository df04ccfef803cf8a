-- Undoing an import: `file_match` marks an expense that was there before and that a row of a file was found to be, and `file_id_task` is the
-- import that gave an expense its id. `undone` counts the expenses that were taken back so far; a time says that it was all.
ALTER TABLE expense ADD COLUMN file_match smallint;
ALTER TABLE expense ADD COLUMN file_id_task text;
CREATE INDEX expense_file_task ON expense (owner, file_task, number) WHERE file_task IS NOT NULL;
CREATE INDEX expense_file_id_task ON expense (owner, file_id_task) WHERE file_id_task IS NOT NULL;
ALTER TABLE task ADD COLUMN undone bigint;
ALTER TABLE task ADD COLUMN undone_at_ms bigint;
-- How a person had a file read, by a hash of the names of its columns; the options are JSON.
CREATE TABLE import_mapping (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  header text NOT NULL,
  options text NOT NULL,
  used_at_ms bigint NOT NULL,
  PRIMARY KEY (owner, header)
);
