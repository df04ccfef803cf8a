-- What bulk changes of expenses have changed, by their undo token, for 24 hours: the rows before, as JSON.
CREATE TABLE bulk_change (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  token text NOT NULL,
  rows_before text NOT NULL,
  created_at_ms bigint NOT NULL,
  undone smallint NOT NULL DEFAULT 0,
  PRIMARY KEY (owner, token)
);
CREATE INDEX bulk_change_age ON bulk_change (created_at_ms);
