-- Documents that are searched together. `version` rises with each document that is published or removed.
CREATE TABLE library (
  id integer PRIMARY KEY AUTOINCREMENT,
  key text NOT NULL UNIQUE,
  version bigint NOT NULL DEFAULT 0
);

CREATE TABLE document (
  id integer PRIMARY KEY AUTOINCREMENT,
  public_id text NOT NULL UNIQUE,
  library integer NOT NULL REFERENCES library (id) ON DELETE CASCADE,
  owner text NOT NULL,
  session text,
  filename text NOT NULL,
  media_type text NOT NULL,
  size bigint NOT NULL,
  sha256 text NOT NULL,
  title text NOT NULL,
  status text NOT NULL CHECK (status IN ('processing', 'indexed', 'failed', 'deleting')),
  error text,
  pages bigint,
  chunk_count bigint NOT NULL DEFAULT 0,
  text_length bigint NOT NULL DEFAULT 0,
  tags text NOT NULL,
  warnings text NOT NULL,
  lease_until_ms bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
);
CREATE UNIQUE INDEX document_bytes ON document (library, sha256) WHERE status IN ('processing', 'indexed');
CREATE INDEX document_name ON document (library, filename);
CREATE INDEX document_lease ON document (lease_until_ms) WHERE status IN ('processing', 'deleting');

CREATE TABLE document_text (
  document integer PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
  text text NOT NULL
);

-- The bytes that were uploaded, in parts.
CREATE TABLE document_content (
  document integer NOT NULL REFERENCES document (id) ON DELETE CASCADE,
  part bigint NOT NULL,
  bytes blob NOT NULL,
  PRIMARY KEY (document, part)
);

CREATE TABLE chunk (
  id integer PRIMARY KEY AUTOINCREMENT,
  public_id text NOT NULL,
  document integer NOT NULL REFERENCES document (id) ON DELETE CASCADE,
  place bigint NOT NULL,
  section text NOT NULL,
  page bigint,
  start_offset bigint NOT NULL,
  end_offset bigint NOT NULL,
  text text NOT NULL,
  features blob NOT NULL
);
CREATE UNIQUE INDEX chunk_document ON chunk (document, place);

CREATE TABLE session (
  id text PRIMARY KEY,
  owner text NOT NULL,
  title text NOT NULL,
  metadata text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
);
CREATE INDEX session_owner ON session (owner, updated_at_ms);

CREATE TABLE message (
  id text PRIMARY KEY,
  session text NOT NULL REFERENCES session (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('user', 'assistant')),
  content text NOT NULL,
  strategy text,
  details text NOT NULL,
  created_at_ms bigint NOT NULL
);
CREATE INDEX message_session ON message (session, id);

CREATE VIRTUAL TABLE chunk_words USING fts5(
  title, section, text, content='', contentless_delete=1,
  tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'"
);
CREATE TRIGGER chunk_words_deleted AFTER DELETE ON chunk BEGIN DELETE FROM chunk_words WHERE rowid = old.id; END;
