ALTER TABLE chunk ADD COLUMN meaning bytea;
