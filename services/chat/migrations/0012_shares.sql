-- Links by which strangers read a chat as it was when its owner shared it. The token is kept hashed, and can only be made again with the secret.
CREATE TABLE share (
  session text PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
  -- What the token is made from, with the secret.
  seed text NOT NULL,
  token_hash text NOT NULL UNIQUE,
  -- JSON: questions, answers and quotes.
  snapshot text NOT NULL,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX share_expiry ON share (expires_at_ms);

-- Documents that a shared chat quotes, with the library that each was in.
CREATE TABLE share_document (
  session text NOT NULL REFERENCES share (session) ON DELETE CASCADE,
  document text NOT NULL,
  library bigint NOT NULL,
  PRIMARY KEY (session, document)
);
CREATE INDEX share_document_document ON share_document (document);
