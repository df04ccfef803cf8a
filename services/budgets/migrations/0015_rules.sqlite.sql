-- A rule has conditions and fields that it sets, both JSON. Both are null in rules of before, which have one condition in `contains`, and set
-- `category` and `tags`; those are empty in others.
ALTER TABLE import_rule ADD COLUMN conditions text;
ALTER TABLE import_rule ADD COLUMN sets text;
ALTER TABLE import_rule ADD COLUMN match_any smallint NOT NULL DEFAULT 0;
ALTER TABLE import_rule ADD COLUMN transfer smallint NOT NULL DEFAULT 0;
ALTER TABLE import_rule ADD COLUMN enabled smallint NOT NULL DEFAULT 1;
-- A value of `unassigned` for the hidden budgets of transfers, which count in no report.
CREATE UNIQUE INDEX budget_transfers ON budget (owner, currency) WHERE unassigned = 2;
-- A rule that is applied to many expenses is a task. SQLite changes no CHECK, so the rows move to a new table.
CREATE TABLE task_new (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  id text NOT NULL,
  type text NOT NULL CHECK (type IN ('import', 'export', 'report', 'reindex', 'email', 'rule')),
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
