-- A rule has conditions and fields that it sets, both JSON. Both are null in rules of before, which have one condition in `contains`, and set
-- `category` and `tags`; those are empty in others.
ALTER TABLE import_rule ADD COLUMN conditions text;
ALTER TABLE import_rule ADD COLUMN sets text;
ALTER TABLE import_rule ADD COLUMN match_any smallint NOT NULL DEFAULT 0;
ALTER TABLE import_rule ADD COLUMN transfer smallint NOT NULL DEFAULT 0;
ALTER TABLE import_rule ADD COLUMN enabled smallint NOT NULL DEFAULT 1;
-- A value of `unassigned` for the hidden budgets of transfers, which count in no report.
CREATE UNIQUE INDEX budget_transfers ON budget (owner, currency) WHERE unassigned = 2;
-- A rule that is applied to many expenses is a task.
ALTER TABLE task DROP CONSTRAINT task_type_check;
ALTER TABLE task ADD CONSTRAINT task_type_check CHECK (type IN ('import', 'export', 'report', 'reindex', 'email', 'rule'));
