-- Models of the embedding service. `requested` is the size of vectors that is asked for, 0 if the service decides; `dimensions` is the
-- size that they have, 0 until the first is there. Documents get vectors of the model with the highest `choice`, as long as it is in use.
CREATE TABLE embedding_model (
  id integer PRIMARY KEY AUTOINCREMENT,
  name text NOT NULL,
  requested bigint NOT NULL,
  dimensions bigint NOT NULL,
  choice bigint NOT NULL,
  used_at_ms bigint NOT NULL,
  UNIQUE (name, requested)
);

-- Vectors of length 1 as 32-bit floats, little-endian. Empty where the service refuses the text.
CREATE TABLE chunk_embedding (
  chunk integer NOT NULL REFERENCES chunk (id) ON DELETE CASCADE,
  model integer NOT NULL REFERENCES embedding_model (id) ON DELETE CASCADE,
  vector blob NOT NULL,
  PRIMARY KEY (chunk, model)
);
CREATE INDEX chunk_embedding_model ON chunk_embedding (model);

-- The model that all chunks of a document have vectors of, 0 for none.
ALTER TABLE document ADD COLUMN embedding_model bigint NOT NULL DEFAULT 0;
CREATE INDEX document_embedding ON document (embedding_model) WHERE status = 'indexed';

-- Jobs (kit/jobs). due_at_ms is when one may be taken or, while it is leased, when the lease ends.
CREATE TABLE job (
  id text PRIMARY KEY,
  kind text NOT NULL,
  payload blob NOT NULL,
  traceparent text,
  created_at_ms bigint NOT NULL,
  due_at_ms bigint NOT NULL,
  attempts integer NOT NULL,
  holder text NOT NULL,
  error text,
  dead_at_ms bigint
);
CREATE INDEX job_due ON job (kind, due_at_ms) WHERE dead_at_ms IS NULL;
