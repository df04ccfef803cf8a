-- What the readiness check writes.
CREATE TABLE health_probe (only_row integer PRIMARY KEY CHECK (only_row = 1), written_at_ms bigint NOT NULL);
INSERT INTO health_probe VALUES (1, 0);
