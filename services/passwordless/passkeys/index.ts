/** What the rest of the service may use of passkeys. */
export { passkeyErrors } from './errors.ts';
export { nameCharactersMax, type Passkey, passkeysMax } from './passkey.ts';
export { type AcceptedPasskeys, Passkeys } from './passkeys.ts';
export { createParty } from './relying-party.ts';
export { Asserted, assertionOf, Registered, registrationOf } from './responses.ts';
export { PasskeySignIns } from './sign-ins.ts';
export { deleteExpiredCeremonies } from './store.ts';
