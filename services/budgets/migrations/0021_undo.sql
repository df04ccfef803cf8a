-- What a change of many expenses says about itself on pages, and the budgets and rules that it made, as JSON; null for a slice of a task.
ALTER TABLE bulk_change ADD COLUMN about text;
CREATE INDEX bulk_change_last ON bulk_change (owner, created_at_ms) WHERE undone = 0 AND about IS NOT NULL;
-- At the version `restored_version`, an undo has made the expense as it was at the version `restored_as`.
ALTER TABLE expense ADD COLUMN restored_version bigint;
ALTER TABLE expense ADD COLUMN restored_as bigint;
