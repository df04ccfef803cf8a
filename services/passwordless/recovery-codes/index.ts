export { RecoveryCodes } from './recovery-codes.ts';
