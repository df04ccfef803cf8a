CREATE TABLE author (
  id bigint PRIMARY KEY,
  handle text NOT NULL UNIQUE
);

CREATE TABLE note (
  id bigint PRIMARY KEY,
  author_id bigint NOT NULL REFERENCES author (id),
  slug text NOT NULL,
  lang text NOT NULL,
  body text NOT NULL,
  UNIQUE (slug, lang)
);

CREATE TABLE sample (
  id bigint PRIMARY KEY,
  whole bigint,
  ratio double precision,
  flag smallint,
  bytes bytea,
  json text
);

CREATE UNIQUE INDEX sample_json_folded ON sample (lower(json));

INSERT INTO author (id, handle) VALUES (1, 'Alice'), (2, 'Bob');
