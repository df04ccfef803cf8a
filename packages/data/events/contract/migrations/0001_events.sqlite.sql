CREATE TABLE event_outbox (
  seq integer PRIMARY KEY AUTOINCREMENT,
  type text NOT NULL,
  data blob NOT NULL,
  time_ms integer NOT NULL,
  traceparent text
) STRICT;

CREATE TABLE event_reader (
  name text PRIMARY KEY,
  position integer NOT NULL,
  lease_holder text NOT NULL,
  until_ms integer NOT NULL
) STRICT;

CREATE TABLE counter (only_row integer PRIMARY KEY, value integer NOT NULL) STRICT;
INSERT INTO counter VALUES (1, 0);
