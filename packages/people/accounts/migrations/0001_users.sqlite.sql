-- username_key is the username without regard to case; two users never share it.
CREATE TABLE auth_user (
  id integer PRIMARY KEY AUTOINCREMENT,
  username text NOT NULL,
  username_key text NOT NULL UNIQUE,
  email text,
  password_hash text NOT NULL,
  is_active smallint NOT NULL CHECK (is_active IN (0, 1)),
  is_staff smallint NOT NULL CHECK (is_staff IN (0, 1)),
  is_superuser smallint NOT NULL CHECK (is_superuser IN (0, 1)),
  created_at_ms bigint NOT NULL,
  last_sign_in_at_ms bigint,
  password_changed_at_ms bigint NOT NULL
);

CREATE TABLE auth_group (
  id integer PRIMARY KEY AUTOINCREMENT,
  name text NOT NULL UNIQUE
);
