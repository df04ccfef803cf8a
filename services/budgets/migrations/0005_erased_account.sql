-- An account with a time is being erased: nobody can sign in, and its rows are deleted in slices.
ALTER TABLE account ADD COLUMN erased_at_ms bigint;
CREATE INDEX account_erased ON account (erased_at_ms) WHERE erased_at_ms IS NOT NULL;
