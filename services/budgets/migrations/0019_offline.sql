-- Expenses that were typed without a network, by the ids that devices gave them. They outlive the expense: one that was deleted since is not added again.
CREATE TABLE offline_expense (
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  external_id text NOT NULL,
  PRIMARY KEY (owner, external_id)
);
