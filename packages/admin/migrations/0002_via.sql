-- Where the change was made: admin, api or page; empty where it was not written yet.
ALTER TABLE admin_log ADD COLUMN via text NOT NULL DEFAULT '';
