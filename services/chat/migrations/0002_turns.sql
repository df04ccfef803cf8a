-- Turns of the last minutes, so that a request with the same id is answered once by whatever process it reaches.
CREATE TABLE turn (
  owner text NOT NULL,
  request_id text NOT NULL,
  -- Of what was asked, to tell another question under the same id.
  fingerprint text NOT NULL,
  -- Another one each time it is run; also the id of the message with its answer.
  run text NOT NULL UNIQUE,
  -- Null if no session keeps it. A session that the turn begins is made after it, in the same transaction.
  session text REFERENCES session (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  status text NOT NULL CHECK (status IN ('waiting', 'running', 'done', 'cancelled')),
  stopping smallint NOT NULL,
  -- Until when another process waits for its outcome.
  followed_until_ms bigint NOT NULL,
  -- JSON: all that happened in it, once it has ended.
  events text,
  -- The end of the lease of the process that runs it; once it has ended, how long it is kept.
  until_ms bigint NOT NULL,
  PRIMARY KEY (owner, request_id)
);
CREATE INDEX turn_session ON turn (session);
