-- Sums by category read this index alone, and lists of a category, and its spellings, the other.
DROP INDEX expense_budget_day;
CREATE INDEX expense_budget_day ON expense (owner, budget, spent_on, amount_minor, category);
CREATE INDEX expense_category ON expense (owner, category, spent_on, number);
-- The largest expenses of a currency, in some days and budgets.
CREATE INDEX expense_largest ON expense (owner, currency, amount_minor, number, spent_on, budget);
-- The admin lists the newest of all accounts.
CREATE INDEX expense_created ON expense (created_at_ms, id);
