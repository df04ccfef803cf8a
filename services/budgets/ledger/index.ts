export {
  balancesOf,
  findTransaction,
  type Posting,
  post,
  postAll,
  reverse,
  reverseAll,
  transactionPage,
  tryReverse,
} from './ledger.ts';
export { Transaction, TransactionInput, TransactionPatch } from './transaction.ts';
