-- Categories of imported expenses by their description. The first rule that fits, by position from 1 on, counts; tags is a JSON array.
CREATE TABLE import_rule (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  id text NOT NULL,
  position bigint NOT NULL,
  contains text NOT NULL,
  category text NOT NULL,
  tags text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (owner, id)
);
CREATE INDEX import_rule_position ON import_rule (owner, position);
