CREATE TABLE note (
  id bigint PRIMARY KEY,
  title text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  normalized text COLLATE "C"
);

-- Without the right to make the extension a search reads every row.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
  EXECUTE 'CREATE INDEX note_trigram ON note USING gin ((coalesce(normalized, lower(title) || ''A'' || lower(body))) public.gin_trgm_ops)';
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'no trigram index: %', SQLERRM;
END
$$;

CREATE TABLE note_words (id bigint PRIMARY KEY REFERENCES note ON DELETE CASCADE, terms tsvector NOT NULL);
CREATE INDEX note_words_terms ON note_words USING gin (terms);

CREATE TABLE note_terms (id bigint PRIMARY KEY REFERENCES note ON DELETE CASCADE, terms tsvector NOT NULL);
CREATE INDEX note_terms_terms ON note_terms USING gin (terms);
