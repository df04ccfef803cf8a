-- moved_to is the working day to which the nominal day was moved; null for rows of earlier versions, whose days were not moved.
ALTER TABLE recurring ADD COLUMN on_weekend text NOT NULL DEFAULT 'same' CHECK (on_weekend IN ('same', 'before', 'after'));
ALTER TABLE recurring_occurrence ADD COLUMN moved_to text;
UPDATE recurring_occurrence SET moved_to = day;
CREATE UNIQUE INDEX recurring_occurrence_moved ON recurring_occurrence (owner, recurring_id, moved_to);
-- A type of task is no longer checked, so that the next one needs no new table.
CREATE TABLE task_new (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  id text NOT NULL,
  type text NOT NULL,
  description text,
  status text NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed', 'canceled')),
  progress integer NOT NULL,
  input text NOT NULL,
  result text,
  error text,
  attempts integer NOT NULL,
  run text NOT NULL,
  created_at_ms bigint NOT NULL,
  started_at_ms bigint,
  finished_at_ms bigint,
  seen_at_ms bigint NOT NULL,
  undone bigint,
  undone_at_ms bigint,
  PRIMARY KEY (owner, id)
);
INSERT INTO task_new (owner, id, type, description, status, progress, input, result, error, attempts, run, created_at_ms, started_at_ms, finished_at_ms, seen_at_ms, undone, undone_at_ms)
  SELECT owner, id, type, description, status, progress, input, result, error, attempts, run, created_at_ms, started_at_ms, finished_at_ms, seen_at_ms, undone, undone_at_ms FROM task;
DROP TABLE task;
ALTER TABLE task_new RENAME TO task;
CREATE INDEX task_created ON task (owner, created_at_ms, id);
CREATE INDEX task_open ON task (seen_at_ms) WHERE status IN ('pending', 'running');
