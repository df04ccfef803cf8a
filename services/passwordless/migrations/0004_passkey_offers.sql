-- The ids of the passkeys that a sign-in offered for an address, as JSON; null where no address was named. It replaces discoverable,
-- which told only whether an address was named.
ALTER TABLE passkey_ceremony ADD COLUMN offered text;
ALTER TABLE passkey_ceremony DROP COLUMN discoverable;
