CREATE TABLE owner (id integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL UNIQUE, things bigint NOT NULL DEFAULT 0);
CREATE TABLE thing (
  id integer PRIMARY KEY, owner bigint NOT NULL REFERENCES owner (id) ON DELETE CASCADE, note text, ratio double precision, bytes blob
);
CREATE UNIQUE INDEX thing_note ON thing (owner, note);
CREATE TRIGGER thing_counted AFTER INSERT ON thing BEGIN UPDATE owner SET things = things + 1 WHERE id = new.owner; END;
CREATE TABLE seen (name text PRIMARY KEY, at_ms bigint NOT NULL);
INSERT INTO seen VALUES ('migrated', 0);
CREATE TABLE thing_words (id bigint PRIMARY KEY, words text NOT NULL);
