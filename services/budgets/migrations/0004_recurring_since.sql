-- A rule that was changed adds expenses from since_on on; absent, from start_on on. made counts its occurrences before that day.
ALTER TABLE recurring ADD COLUMN since_on text;
ALTER TABLE recurring ADD COLUMN made integer NOT NULL DEFAULT 0;
