-- The quotes of a category are counted once for each statement. A trigger for each row wrote the same category as often as it had quotes, and each
-- time searched longer for its latest version.
DROP TRIGGER quote_counted ON quote;
DROP FUNCTION count_quotes();

CREATE FUNCTION count_quotes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids bigint[];
  changes bigint[];
BEGIN
  -- Each part reads the tables that its kind of trigger has.
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(c.id), array_agg(c.change) INTO ids, changes
      FROM (SELECT category_id AS id, sum(is_published) AS change FROM added GROUP BY 1 HAVING sum(is_published) <> 0) AS c;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(c.id), array_agg(c.change) INTO ids, changes
      FROM (SELECT category_id AS id, -sum(is_published) AS change FROM removed GROUP BY 1 HAVING sum(is_published) <> 0) AS c;
  ELSE
    SELECT array_agg(c.id), array_agg(c.change) INTO ids, changes
      FROM (SELECT category_id AS id, sum(published) AS change
        FROM (SELECT category_id, is_published AS published FROM added
          UNION ALL SELECT category_id, -is_published FROM removed) AS both_sides GROUP BY 1 HAVING sum(published) <> 0) AS c;
  END IF;
  -- In one order, so that two of these never wait for each other.
  PERFORM FROM category WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  UPDATE category SET quotes = quotes + c.change
    FROM unnest(ids, changes) AS c (id, change) WHERE category.id = c.id;
  RETURN NULL;
END
$$;

CREATE TRIGGER quote_added AFTER INSERT ON quote
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_quotes();
CREATE TRIGGER quote_removed AFTER DELETE ON quote
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_quotes();
CREATE TRIGGER quote_changed AFTER UPDATE ON quote
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_quotes();
