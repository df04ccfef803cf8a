-- Whether a document takes the place of those with the same name when it is published, also by the process that takes over from a killed one.
ALTER TABLE document ADD COLUMN replaces smallint NOT NULL DEFAULT 0;
