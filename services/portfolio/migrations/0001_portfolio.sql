-- `*_words` hold the words of a text without case and accents, each between spaces, for comparison by prefix.
CREATE TABLE member (
  id text PRIMARY KEY,
  slug text NOT NULL UNIQUE,
  name text NOT NULL,
  role text NOT NULL,
  title text NOT NULL,
  bio text NOT NULL,
  location text NOT NULL,
  email text,
  joined_on text,
  links text NOT NULL,
  name_words text NOT NULL,
  role_words text NOT NULL,
  location_words text NOT NULL,
  all_words text NOT NULL,
  updated_at_ms bigint NOT NULL
);

CREATE TABLE sector (
  id text PRIMARY KEY,
  slug text NOT NULL UNIQUE,
  name text NOT NULL,
  description text NOT NULL,
  currency text NOT NULL,
  name_words text NOT NULL,
  all_words text NOT NULL,
  updated_at_ms bigint NOT NULL
);

CREATE TABLE investment (
  id text PRIMARY KEY,
  slug text NOT NULL UNIQUE,
  company text NOT NULL,
  sector_id text NOT NULL REFERENCES sector,
  stage text NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'exited', 'written_off')),
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  invested_on text NOT NULL,
  exited_on text,
  lead_id text REFERENCES member ON DELETE SET NULL,
  country text NOT NULL,
  description text NOT NULL,
  website text,
  company_words text NOT NULL,
  stage_words text NOT NULL,
  country_words text NOT NULL,
  all_words text NOT NULL,
  updated_at_ms bigint NOT NULL
);
CREATE INDEX investment_sector ON investment (sector_id);
CREATE INDEX investment_lead ON investment (lead_id);

CREATE TABLE investment_member (
  investment_id text NOT NULL REFERENCES investment ON DELETE CASCADE,
  member_id text NOT NULL REFERENCES member ON DELETE CASCADE,
  place integer NOT NULL,
  PRIMARY KEY (investment_id, member_id)
);
CREATE INDEX investment_member_member ON investment_member (member_id);

CREATE TABLE member_sector (
  member_id text NOT NULL REFERENCES member ON DELETE CASCADE,
  sector_id text NOT NULL REFERENCES sector ON DELETE CASCADE,
  place integer NOT NULL,
  PRIMARY KEY (member_id, sector_id)
);
CREATE INDEX member_sector_sector ON member_sector (sector_id);

CREATE TABLE sector_lead (
  sector_id text NOT NULL REFERENCES sector ON DELETE CASCADE,
  member_id text NOT NULL REFERENCES member ON DELETE CASCADE,
  place integer NOT NULL,
  PRIMARY KEY (sector_id, member_id)
);
CREATE INDEX sector_lead_member ON sector_lead (member_id);

CREATE VIEW sector_totals AS
SELECT sector.*,
  (SELECT count(*) FROM investment WHERE investment.sector_id = sector.id) AS investment_count,
  (SELECT coalesce(sum(amount_minor), 0) FROM investment
    WHERE investment.sector_id = sector.id AND investment.currency = sector.currency) AS total_amount_minor
FROM sector;

-- Whether the demo data was loaded, so that an owner who deletes it does not get it back.
CREATE TABLE demo_load (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  loaded_at_ms bigint NOT NULL
);
