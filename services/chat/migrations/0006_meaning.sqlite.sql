ALTER TABLE chunk ADD COLUMN meaning blob;
