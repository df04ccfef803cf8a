-- What was done to each object, and by whom. changes is JSON; model and object_id are those of the address.
CREATE TABLE admin_log (
  id integer PRIMARY KEY AUTOINCREMENT,
  at_ms bigint NOT NULL,
  user_id text,
  user_name text NOT NULL,
  model text NOT NULL,
  object_id text NOT NULL,
  title text NOT NULL,
  action text NOT NULL,
  changes text NOT NULL
);

CREATE INDEX admin_log_object ON admin_log (model, object_id, id);
CREATE INDEX admin_log_user ON admin_log (user_id, id);

-- A file whose import waits for confirmation.
CREATE TABLE admin_upload (
  id text PRIMARY KEY,
  user_id text NOT NULL,
  model text NOT NULL,
  name text NOT NULL,
  content text NOT NULL,
  expires_at_ms bigint NOT NULL
);

CREATE INDEX admin_upload_expiry ON admin_upload (expires_at_ms);
