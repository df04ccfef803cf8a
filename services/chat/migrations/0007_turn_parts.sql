-- Until when somebody in another process wants the events of a turn as they come.
ALTER TABLE turn ADD COLUMN watched_until_ms bigint NOT NULL DEFAULT 0;
CREATE INDEX turn_until ON turn (until_ms);
-- Events of a running turn that is watched. Once it has ended, all of them are in the turn.
CREATE TABLE turn_part (
  owner text NOT NULL,
  request_id text NOT NULL,
  run text NOT NULL,
  -- Number of the events of that run before these.
  first integer NOT NULL,
  -- JSON: a list.
  events text NOT NULL,
  PRIMARY KEY (owner, request_id, run, first),
  FOREIGN KEY (owner, request_id) REFERENCES turn (owner, request_id) ON DELETE CASCADE
);
