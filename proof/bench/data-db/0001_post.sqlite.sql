CREATE TABLE post (id integer PRIMARY KEY, user_id integer NOT NULL, title text NOT NULL, body text NOT NULL, created_at_ms integer NOT NULL);
