export { TotpSetup } from './setup.ts';
export { TotpSignIns } from './sign-ins.ts';
export { deletePendingSecrets } from './store.ts';
