-- An audience belongs to one application: of several, one of ours keeps it, else the first. An empty one is none.
UPDATE oidc_client SET audience = '' WHERE id <> (
  SELECT owner.id FROM oidc_client AS owner WHERE owner.audience = oidc_client.audience ORDER BY owner.first_party DESC, owner.id LIMIT 1
);

DROP INDEX oidc_client_audience;
CREATE UNIQUE INDEX oidc_client_audience ON oidc_client (audience) WHERE audience <> '';
