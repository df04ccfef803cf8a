export {
  correctTransaction,
  createTransaction,
  getTransaction,
  listTransactions,
  listTransactionsOf,
  reverseTransaction,
} from './transactions.ts';
