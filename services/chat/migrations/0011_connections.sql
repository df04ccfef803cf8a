-- Servers that administrators connected on the page. The key is encrypted, and bound to its address.
CREATE TABLE connection (
  kind text PRIMARY KEY,
  base_url text NOT NULL,
  model text NOT NULL,
  api_key text,
  changed_at_ms bigint NOT NULL
);
