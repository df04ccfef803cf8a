export { Passkeys } from './passkeys.ts';
export { createParty } from './relying-party.ts';
export { PasskeySignIns } from './sign-ins.ts';
export { deleteExpiredCeremonies } from './store.ts';
