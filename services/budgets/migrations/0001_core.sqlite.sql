-- People with an account. Rows of others refer to the number, which is short; clients see only the id.
CREATE TABLE account (
  number integer PRIMARY KEY AUTOINCREMENT,
  id text NOT NULL UNIQUE,
  email text NOT NULL UNIQUE,
  username text,
  password_hash text NOT NULL,
  email_verified smallint NOT NULL CHECK (email_verified IN (0, 1)),
  disabled smallint NOT NULL CHECK (disabled IN (0, 1)),
  -- The number of the account's last notification. Whoever adds one locks this row, so numbers have no holes.
  notification_seq bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
);

CREATE TABLE budget (
  number integer PRIMARY KEY,
  id text NOT NULL,
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  name text NOT NULL,
  limit_minor bigint NOT NULL,
  currency text NOT NULL,
  period text NOT NULL CHECK (period IN ('none', 'daily', 'weekly', 'monthly', 'quarterly', 'yearly')),
  start_date text NOT NULL,
  rollover text NOT NULL CHECK (rollover IN ('none', 'positive', 'full')),
  thresholds text NOT NULL,
  -- The sum and the number of all its expenses.
  spent_minor bigint NOT NULL,
  expenses bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  version bigint NOT NULL
);

CREATE UNIQUE INDEX budget_id ON budget (owner, id);
CREATE UNIQUE INDEX budget_number ON budget (owner, number);

-- What was spent on each day of a budget, kept with each expense, so that a sum over a period reads a few rows.
CREATE TABLE budget_day (
  owner bigint NOT NULL,
  budget bigint NOT NULL,
  day text NOT NULL,
  amount_minor bigint NOT NULL,
  expenses bigint NOT NULL,
  PRIMARY KEY (owner, budget, day),
  FOREIGN KEY (owner, budget) REFERENCES budget (owner, number) ON DELETE CASCADE
);

-- Thresholds that are reached now. Its owner was told of each.
CREATE TABLE budget_threshold (
  owner bigint NOT NULL,
  budget bigint NOT NULL,
  period text NOT NULL,
  threshold integer NOT NULL,
  PRIMARY KEY (owner, budget, period, threshold),
  FOREIGN KEY (owner, budget) REFERENCES budget (owner, number) ON DELETE CASCADE
);

-- Numbers rise with time. amount is amount_minor in units of the currency: amounts in different currencies are sorted by it.
-- transaction_id is the debit in the ledger that is in force.
CREATE TABLE expense (
  number integer PRIMARY KEY,
  id text NOT NULL,
  owner bigint NOT NULL,
  budget bigint NOT NULL,
  description text NOT NULL,
  amount_minor bigint NOT NULL,
  amount double precision NOT NULL,
  currency text NOT NULL,
  category text,
  tags text NOT NULL,
  spent_on text NOT NULL,
  notes text,
  external_id text,
  original_amount_minor bigint,
  original_currency text,
  rate text,
  rate_date text,
  transaction_id text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  version bigint NOT NULL,
  FOREIGN KEY (owner, budget) REFERENCES budget (owner, number) ON DELETE CASCADE
);

CREATE UNIQUE INDEX expense_id ON expense (owner, id);
CREATE UNIQUE INDEX expense_number ON expense (owner, number);
CREATE INDEX expense_spent_on ON expense (owner, spent_on, number);
CREATE INDEX expense_amount ON expense (owner, amount, number);
CREATE INDEX expense_budget ON expense (owner, budget, number);
CREATE INDEX expense_budget_day ON expense (owner, budget, spent_on, amount_minor);
CREATE UNIQUE INDEX expense_external_id ON expense (owner, budget, external_id) WHERE external_id IS NOT NULL;

CREATE TABLE expense_tag (
  owner bigint NOT NULL,
  tag text NOT NULL,
  expense bigint NOT NULL,
  PRIMARY KEY (owner, tag, expense),
  FOREIGN KEY (owner, expense) REFERENCES expense (owner, number) ON DELETE CASCADE
);
CREATE INDEX expense_tag_expense ON expense_tag (owner, expense);

-- The search index (kit/search).
CREATE VIRTUAL TABLE expense_words USING fts5(
  description, description_word, category, category_word, tags, tags_word, notes, notes_word,
  content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'"
);
CREATE TRIGGER expense_words_deleted AFTER DELETE ON expense BEGIN
  DELETE FROM expense_words WHERE rowid = old.number;
END;

-- Jobs (kit/jobs). due_at_ms is when one may be taken or, while it is leased, when the lease ends.
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

-- Events (kit/events): what transactions publish, and the position of each consumer.
CREATE TABLE event_outbox (
  seq integer PRIMARY KEY AUTOINCREMENT,
  type text NOT NULL,
  data blob NOT NULL,
  time_ms bigint NOT NULL,
  traceparent text
);

CREATE TABLE event_reader (
  name text PRIMARY KEY,
  position bigint NOT NULL,
  holder text NOT NULL,
  until_ms bigint NOT NULL
);
