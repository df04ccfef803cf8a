-- Sign-ins. A token is valid while its row (by its jti) is here.
CREATE TABLE session (
  id text PRIMARY KEY,
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX session_owner ON session (owner);
CREATE INDEX session_expiry ON session (expires_at_ms);

-- Wrong passwords in a row, by a hash of the address.
CREATE TABLE login_attempt (
  address_hash text PRIMARY KEY,
  failures integer NOT NULL,
  last_failure_at_ms bigint NOT NULL
);
CREATE INDEX login_attempt_age ON login_attempt (last_failure_at_ms);

-- Links that were mailed. The token in a link is derived from the id and the secret, so it is not stored.
CREATE TABLE mailed_link (
  id text PRIMARY KEY,
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('verify', 'reset')),
  email text NOT NULL,
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  sent_at_ms bigint
);
CREATE INDEX mailed_link_owner ON mailed_link (owner, kind);
CREATE INDEX mailed_link_expiry ON mailed_link (expires_at_ms);
CREATE INDEX mailed_link_unsent ON mailed_link (created_at_ms) WHERE sent_at_ms IS NULL;

-- The first response to each Idempotency-Key.
CREATE TABLE idempotency_key (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  key text NOT NULL,
  digest text NOT NULL,
  result text NOT NULL,
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (owner, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (created_at_ms);

-- The ledger. Rows are never changed; a reversal cancels a transaction, each at most once.
CREATE TABLE ledger_transaction (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  id text NOT NULL,
  type text NOT NULL CHECK (type IN ('debit', 'credit', 'reversal')),
  description text NOT NULL,
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  budget_id text,
  expense_id text,
  order_id text,
  reverses text,
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (owner, id)
);
CREATE INDEX ledger_transaction_created ON ledger_transaction (owner, created_at_ms, id);
CREATE UNIQUE INDEX ledger_transaction_reverses ON ledger_transaction (owner, reverses) WHERE reverses IS NOT NULL;

CREATE TABLE ledger_entry (
  owner bigint NOT NULL,
  transaction_id text NOT NULL,
  position smallint NOT NULL,
  account text NOT NULL,
  side text NOT NULL CHECK (side IN ('debit', 'credit')),
  amount_minor bigint NOT NULL,
  PRIMARY KEY (owner, transaction_id, position),
  FOREIGN KEY (owner, transaction_id) REFERENCES ledger_transaction (owner, id) ON DELETE CASCADE
);

CREATE TABLE customer (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  id text NOT NULL,
  name text NOT NULL,
  email text,
  phone text,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (owner, id)
);
CREATE INDEX customer_created ON customer (owner, created_at_ms, id);

-- items is a JSON array of description, quantity and unitAmountMinor.
CREATE TABLE customer_order (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  id text NOT NULL,
  customer_id text NOT NULL,
  budget_id text,
  items text NOT NULL,
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'completed', 'shipped', 'delivered', 'canceled')),
  transaction_id text,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (owner, id),
  FOREIGN KEY (owner, customer_id) REFERENCES customer (owner, id)
);
CREATE INDEX customer_order_created ON customer_order (owner, created_at_ms, id);
CREATE INDEX customer_order_customer ON customer_order (owner, customer_id);

CREATE TABLE notification (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  seq bigint NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  title text NOT NULL,
  message text NOT NULL,
  data text NOT NULL,
  read_at_ms bigint,
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (owner, seq)
);
CREATE UNIQUE INDEX notification_id ON notification (owner, id);
CREATE INDEX notification_unread ON notification (owner, seq) WHERE read_at_ms IS NULL;

-- Expenses that come again. made counts the occurrences so far; next_on is the next day, next_at_ms when it begins there.
CREATE TABLE recurring (
  owner bigint NOT NULL,
  id text NOT NULL,
  budget bigint NOT NULL,
  description text NOT NULL,
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  category text,
  freq text NOT NULL CHECK (freq IN ('daily', 'weekly', 'monthly', 'yearly')),
  every integer NOT NULL,
  by_day text,
  by_month_day text,
  start_on text NOT NULL,
  end_on text,
  count integer,
  timezone text NOT NULL,
  next_on text,
  next_at_ms bigint,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (owner, id),
  FOREIGN KEY (owner, budget) REFERENCES budget (owner, number) ON DELETE CASCADE
);
CREATE INDEX recurring_created ON recurring (owner, created_at_ms, id);
CREATE INDEX recurring_budget ON recurring (owner, budget);
CREATE INDEX recurring_due ON recurring (next_at_ms) WHERE next_at_ms IS NOT NULL;

CREATE TABLE recurring_occurrence (
  owner bigint NOT NULL,
  recurring_id text NOT NULL,
  day text NOT NULL,
  PRIMARY KEY (owner, recurring_id, day),
  FOREIGN KEY (owner, recurring_id) REFERENCES recurring (owner, id) ON DELETE CASCADE
);

-- seen_at_ms is when a worker, or the queue, was last heard of; run is the attempt that may write the row.
CREATE TABLE task (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  id text NOT NULL,
  type text NOT NULL CHECK (type IN ('import', 'export', 'report', 'reindex', 'email')),
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
  PRIMARY KEY (owner, id)
);
CREATE INDEX task_created ON task (owner, created_at_ms, id);
CREATE INDEX task_open ON task (seen_at_ms) WHERE status IN ('pending', 'running');

-- Files that tasks read and write, in parts.
CREATE TABLE task_file (
  owner bigint NOT NULL,
  task_id text NOT NULL,
  name text NOT NULL CHECK (name IN ('input', 'output')),
  part integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (owner, task_id, name, part),
  FOREIGN KEY (owner, task_id) REFERENCES task (owner, id) ON DELETE CASCADE
);
