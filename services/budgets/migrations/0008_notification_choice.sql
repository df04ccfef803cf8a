-- Kinds of notifications that the pages show to an account, as a JSON array; the usual ones without a row.
CREATE TABLE notification_choice (
  owner bigint PRIMARY KEY REFERENCES account (number) ON DELETE CASCADE,
  shown text NOT NULL
);
