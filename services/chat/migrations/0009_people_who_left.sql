-- When a person erased their account. What requests of before still wrote is removed for a day; then the row goes, too.
ALTER TABLE person ADD COLUMN left_at_ms bigint;
