-- Jobs (kit/jobs). due_at_ms is when one may be taken or, while it is leased, when the lease ends.
CREATE TABLE job (
  id text PRIMARY KEY,
  kind text NOT NULL,
  payload blob NOT NULL,
  traceparent text,
  created_at_ms integer NOT NULL,
  due_at_ms integer NOT NULL,
  attempts integer NOT NULL,
  holder text NOT NULL,
  error text,
  dead_at_ms integer
) STRICT;
CREATE INDEX job_due ON job (kind, due_at_ms) WHERE dead_at_ms IS NULL;

-- Events (kit/events): what transactions have to tell, and how far each reader has got.
CREATE TABLE event_outbox (
  seq integer PRIMARY KEY AUTOINCREMENT,
  type text NOT NULL,
  data blob NOT NULL,
  time_ms integer NOT NULL,
  traceparent text
) STRICT;

CREATE TABLE event_reader (
  name text PRIMARY KEY,
  position integer NOT NULL,
  holder text NOT NULL,
  until_ms integer NOT NULL
) STRICT;

-- How the revision of a post was classified that the model has seen last.
CREATE TABLE post_sentiment (
  post_id integer PRIMARY KEY,
  revision integer NOT NULL,
  label text NOT NULL CHECK (label IN ('negative', 'neutral', 'positive')),
  negative real NOT NULL,
  neutral real NOT NULL,
  positive real NOT NULL,
  model text NOT NULL,
  classified_at_ms integer NOT NULL
) STRICT;

CREATE TABLE reanalysis (
  id text PRIMARY KEY,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'canceled')),
  -- The run that may write it; each attempt has its own.
  run text NOT NULL,
  progress real NOT NULL,
  created_at_ms integer NOT NULL,
  started_at_ms integer,
  finished_at_ms integer,
  -- When a worker, or the queue, was last heard of.
  seen_at_ms integer NOT NULL,
  -- What a run has done for good, where the next one goes on.
  posts integer,
  repaired integer,
  classified_to integer NOT NULL,
  classified integer NOT NULL,
  labels_changed integer NOT NULL,
  error text
) STRICT;
CREATE INDEX reanalysis_created ON reanalysis (created_at_ms);
CREATE INDEX reanalysis_open ON reanalysis (seen_at_ms) WHERE status IN ('queued', 'running');

-- Rises with each repair of the statistics: of two that counted the same difference only one adds it.
CREATE TABLE statistics_repair (only_row integer PRIMARY KEY CHECK (only_row = 1), repairs integer NOT NULL) STRICT;
INSERT INTO statistics_repair VALUES (1, 0);
