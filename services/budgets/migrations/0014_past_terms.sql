-- Terms of a budget that are over, with the last day on which they held. Those that hold now are in its row.
ALTER TABLE budget ADD COLUMN period_day smallint NOT NULL DEFAULT 1;
CREATE TABLE budget_past_terms (
  owner bigint NOT NULL,
  budget bigint NOT NULL,
  until_day text NOT NULL,
  limit_minor bigint NOT NULL,
  period text NOT NULL,
  period_day smallint NOT NULL,
  rollover text NOT NULL,
  PRIMARY KEY (owner, budget, until_day),
  FOREIGN KEY (owner, budget) REFERENCES budget (owner, number) ON DELETE CASCADE
);
