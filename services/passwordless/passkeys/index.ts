export { Passkeys } from './passkeys.ts';
export { checkParty, createParty } from './relying-party.ts';
export { PasskeySignIns } from './sign-ins.ts';
export { deleteExpiredCeremonies } from './store.ts';
