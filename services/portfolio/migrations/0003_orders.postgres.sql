-- The orders in which lists are read, with the id, so that rows before a page are not read.
CREATE INDEX investment_invested ON investment (invested_on COLLATE "C" DESC, slug COLLATE "C", id);
CREATE INDEX investment_company ON investment (company_words COLLATE "C", slug COLLATE "C", id);
CREATE INDEX investment_amount ON investment (amount_minor DESC, slug COLLATE "C", id);
CREATE INDEX investment_updated ON investment (updated_at_ms DESC, slug COLLATE "C", id);
CREATE INDEX member_name ON member (name_words COLLATE "C", slug COLLATE "C", id);
CREATE INDEX member_updated ON member (updated_at_ms DESC, slug COLLATE "C", id);
-- The totals of a sector are read from it alone.
DROP INDEX investment_sector;
CREATE INDEX investment_sector ON investment (sector_id, currency, amount_minor);
