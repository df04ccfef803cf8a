-- Readers of events now wait for numbers that are still to come. Those of the last release do not, and stop at the new name: what they would have
-- read waits for a process of this release.
ALTER TABLE event_reader RENAME COLUMN holder TO lease_holder;
