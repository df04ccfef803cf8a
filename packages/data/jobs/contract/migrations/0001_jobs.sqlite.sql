CREATE TABLE job (
  id text PRIMARY KEY,
  kind text NOT NULL,
  payload blob NOT NULL,
  traceparent text,
  created_at_ms bigint NOT NULL,
  due_at_ms bigint NOT NULL,
  attempts integer NOT NULL,
  holder text NOT NULL,
  error text,
  dead_at_ms bigint
);
CREATE INDEX job_due ON job (kind, due_at_ms) WHERE dead_at_ms IS NULL;
