-- Pages of polls, the newest first: those before a page are read from it, without their rows.
CREATE INDEX question_listed ON question (visibility, pub_date, id);
