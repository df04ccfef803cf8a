-- moved_to is the working day to which the nominal day was moved; null for rows of earlier versions, whose days were not moved.
ALTER TABLE recurring ADD COLUMN on_weekend text NOT NULL DEFAULT 'same' CHECK (on_weekend IN ('same', 'before', 'after'));
ALTER TABLE recurring_occurrence ADD COLUMN moved_to text;
UPDATE recurring_occurrence SET moved_to = day;
CREATE UNIQUE INDEX recurring_occurrence_moved ON recurring_occurrence (owner, recurring_id, moved_to);
-- A type of task is no longer checked, as on SQLite.
ALTER TABLE task DROP CONSTRAINT task_type_check;
