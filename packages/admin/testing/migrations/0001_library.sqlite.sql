CREATE TABLE author (
  id integer PRIMARY KEY AUTOINCREMENT,
  name text NOT NULL UNIQUE
);

CREATE TABLE book (
  id integer PRIMARY KEY AUTOINCREMENT,
  title text NOT NULL,
  author_id integer REFERENCES author (id) ON DELETE SET NULL,
  genre text NOT NULL,
  is_lent smallint NOT NULL,
  pages integer,
  published_at_ms bigint NOT NULL,
  added text NOT NULL
);

CREATE TABLE copy (
  id integer PRIMARY KEY AUTOINCREMENT,
  book_id integer NOT NULL REFERENCES book (id) ON DELETE CASCADE,
  shelf text NOT NULL,
  is_main smallint NOT NULL
);

CREATE TABLE loan (
  id integer PRIMARY KEY AUTOINCREMENT,
  copy_id integer NOT NULL REFERENCES copy (id) ON DELETE CASCADE,
  reader text NOT NULL
);

CREATE TABLE award (
  id integer PRIMARY KEY AUTOINCREMENT,
  author_id integer NOT NULL REFERENCES author (id),
  name text NOT NULL
);

CREATE INDEX book_published ON book (published_at_ms, id);
CREATE INDEX book_genre ON book (genre, published_at_ms, id);
CREATE INDEX book_author ON book (author_id);
CREATE UNIQUE INDEX copy_main ON copy (book_id) WHERE is_main = 1;
CREATE INDEX copy_book ON copy (book_id);
CREATE INDEX loan_copy ON loan (copy_id);
