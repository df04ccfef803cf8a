-- Accounts with which a budget is shared. The address is the one that was invited; the id was that of the invitation.
CREATE TABLE budget_member (
  account bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  owner bigint NOT NULL,
  budget bigint NOT NULL,
  id text NOT NULL,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'editor')),
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (account, owner, budget),
  FOREIGN KEY (owner, budget) REFERENCES budget (owner, number) ON DELETE CASCADE
);
CREATE UNIQUE INDEX budget_member_of ON budget_member (owner, budget, account);

-- An invitation is for the account with the address, if there is one by then. Rows stay until they expire, also without their budget, so that
-- those of a day can be counted.
CREATE TABLE budget_invitation (
  id text PRIMARY KEY,
  owner bigint NOT NULL REFERENCES account (number) ON DELETE CASCADE,
  budget_id text NOT NULL,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'editor')),
  state text NOT NULL CHECK (state IN ('pending', 'accepted', 'declined', 'withdrawn')),
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  sent_at_ms bigint
);
CREATE UNIQUE INDEX budget_invitation_pending ON budget_invitation (owner, budget_id, email) WHERE state = 'pending';
CREATE INDEX budget_invitation_email ON budget_invitation (email);
CREATE INDEX budget_invitation_expires ON budget_invitation (expires_at_ms);
CREATE INDEX budget_invitation_unsent ON budget_invitation (created_at_ms) WHERE sent_at_ms IS NULL AND state = 'pending';
CREATE INDEX budget_invitation_created ON budget_invitation (owner, created_at_ms);

-- 1 for a budget that was ever shared: only then its members are looked for.
ALTER TABLE budget ADD COLUMN shared smallint NOT NULL DEFAULT 0;
-- The member who added an expense; null for the owner.
ALTER TABLE expense ADD COLUMN added_by bigint;
-- The budget of another account that a notification is about. Members who leave it lose these.
ALTER TABLE notification ADD COLUMN shared_budget bigint;
CREATE INDEX notification_shared ON notification (owner, shared_budget) WHERE shared_budget IS NOT NULL;
