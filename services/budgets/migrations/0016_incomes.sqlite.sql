-- Incomes: the credits of the ledger that are no refund of an expense, with the day on which the money came in. Those that are reversed are not
-- counted. file_* is what a file said of an imported one.
CREATE TABLE income (
  owner bigint NOT NULL,
  transaction_id text NOT NULL,
  day text NOT NULL,
  currency text NOT NULL,
  amount_minor bigint NOT NULL,
  counted smallint NOT NULL,
  external_id text,
  file_task text,
  file_account text,
  file_day text,
  file_amount_minor bigint,
  file_text text,
  PRIMARY KEY (owner, transaction_id),
  FOREIGN KEY (owner, transaction_id) REFERENCES ledger_transaction (owner, id) ON DELETE CASCADE
);
CREATE INDEX income_day ON income (owner, day);
CREATE INDEX income_file ON income (owner, file_day, file_amount_minor) WHERE file_day IS NOT NULL;
CREATE INDEX income_file_task ON income (owner, file_task) WHERE file_task IS NOT NULL;
INSERT INTO income (owner, transaction_id, day, currency, amount_minor, counted)
  SELECT t.owner, t.id, date(t.created_at_ms / 1000, 'unixepoch'), t.currency, t.amount_minor,
    CASE WHEN EXISTS (SELECT 1 FROM ledger_transaction r WHERE r.owner = t.owner AND r.reverses = t.id) THEN 0 ELSE 1 END
  FROM ledger_transaction t WHERE t.type = 'credit' AND t.expense_id IS NULL;
