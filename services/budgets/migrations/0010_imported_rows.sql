-- What a file said of the expense that came of it: account, day, amount in minor units and text, and the task that imported it. All are null
-- for an expense that somebody typed; expenses of before may be of any account.
ALTER TABLE expense ADD COLUMN file_task text;
ALTER TABLE expense ADD COLUMN file_account text;
ALTER TABLE expense ADD COLUMN file_day text;
ALTER TABLE expense ADD COLUMN file_amount_minor bigint;
ALTER TABLE expense ADD COLUMN file_text text;
UPDATE expense SET file_day = spent_on, file_amount_minor = amount_minor;
CREATE INDEX expense_file ON expense (owner, file_day, file_amount_minor, number) WHERE file_day IS NOT NULL;
-- Banks use an id again, with another day or amount.
DROP INDEX expense_external_id;
CREATE UNIQUE INDEX expense_typed_id ON expense (owner, budget, external_id) WHERE external_id IS NOT NULL AND file_day IS NULL;
CREATE INDEX expense_external_id ON expense (owner, budget, external_id) WHERE external_id IS NOT NULL;
