-- An application that does not answer is left alone until then, with all messages for it.
ALTER TABLE oidc_client ADD COLUMN failed_tries integer NOT NULL DEFAULT 0;
ALTER TABLE oidc_client ADD COLUMN next_try_at_ms bigint NOT NULL DEFAULT 0;

DROP INDEX oidc_logout_due;
CREATE INDEX oidc_logout_due ON oidc_logout (client_id, next_try_at_ms);
