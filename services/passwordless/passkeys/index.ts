export { Passkeys } from './passkeys.ts';
export { PasskeySignIns } from './sign-ins.ts';
export { deleteExpiredCeremonies } from './store.ts';
export { checkParty, createParty } from './verification/relying-party.ts';
