export {
  balancesOf,
  findTransaction,
  type Posting,
  post,
  postAll,
  reverse,
  reverseAll,
  side,
  transactionPage,
  tryReverse,
} from './ledger.ts';
export {
  countIncomes,
  type EarlierIncome,
  earlierIncomes,
  forgetIncomes,
  incomesByMonth,
  insertIncomes,
  moveIncome,
  releaseIncomes,
  unchangedIncomes,
} from './store-incomes.ts';
export { Transaction, TransactionInput, TransactionPatch } from './transaction.ts';
