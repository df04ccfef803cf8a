export { Accounts, type Factors } from './accounts.ts';
