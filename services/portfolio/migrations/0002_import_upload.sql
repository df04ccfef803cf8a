-- Files that administrators have uploaded: until they are imported, and then their results (JSON) in place of their contents.
CREATE TABLE import_upload (
  id text PRIMARY KEY,
  user_id bigint NOT NULL,
  name text NOT NULL,
  content text NOT NULL,
  result text,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX import_upload_expiry ON import_upload (expires_at_ms);
