-- Unassigned expenses: those of one currency belong to a budget that nobody sees, so that totals, searches and imports count them as any other.
-- A refund is an expense with an amount below 0; expense.amount, by which expenses are sorted, is never below 0.
ALTER TABLE budget ADD COLUMN unassigned smallint NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX budget_unassigned ON budget (owner, currency) WHERE unassigned = 1;
