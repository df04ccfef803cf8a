-- The row of an account that was erased stays without a name, so that its uid, which posts are stored under, never comes again.
ALTER TABLE account ADD COLUMN erased integer NOT NULL DEFAULT 0 CHECK (erased IN (0, 1));
