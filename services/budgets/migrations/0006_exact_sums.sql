-- Sums beyond 2^53: each of the columns above counts 9,000,000,000,000,000 minor units, and the one that was there holds the rest.
ALTER TABLE budget ADD COLUMN spent_high bigint NOT NULL DEFAULT 0;
ALTER TABLE budget_day ADD COLUMN amount_high bigint NOT NULL DEFAULT 0;
