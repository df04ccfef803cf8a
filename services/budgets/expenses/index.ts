export { type BulkResult, bulkMax, changeRows, filteredRows, unchangedRows } from './bulk/bulk.ts';
export { keepMade, type Made, madeFor } from './bulk/made.ts';
export { lastExpense, tokenOfSlice } from './bulk/store.ts';
export { bulkTask, undoOfSlices } from './bulk/task.ts';
export { lastChangeForm } from './bulk/views.ts';
export {
  Expense,
  ExpenseInput,
  type ExpenseKind,
  ExpensePatch,
  type ExpenseWithBudget,
  expenseFields,
  expenseKinds,
  kindOf,
  toExpense,
} from './expense.ts';
export {
  addExpense,
  createExpense,
  deleteExpense,
  getExpense,
  offlinePrefix,
  parseExpenseInput,
  parseExpensePatch,
  updateExpense,
} from './expenses.ts';
export { requireExpense } from './find.ts';
export { addExpenses, type NewExpense } from './imported/add.ts';
export { identify, KnownRows } from './imported/known.ts';
export type { TypedRow } from './imported/store.ts';
export { link, TypedExpenses } from './imported/typed.ts';
export { countTakenBack, type KeptExpense, releaseImport, takeBackSome } from './imported/undo.ts';
export {
  checkRange,
  type ExpenseSort,
  type ExpensesRequest,
  expenseSorts,
  listCategories,
  listExpenses,
  usualCurrency,
} from './list.ts';
export {
  adderOf,
  budgetId,
  countAllExpenses,
  type ExpenseFilter,
  matching,
  replaceDebit,
  withBudget,
} from './store.ts';
export { type ExpensesOfBudget, listExpensesOf } from './store-of-many.ts';
export { createTypedExpense } from './typed-expense.ts';
export {
  adderNames,
  budgetHref,
  categoryField,
  elsewhere,
  expenseTable,
  nameInChoice,
  type QuickEntry,
  quickEntry,
} from './views.ts';
