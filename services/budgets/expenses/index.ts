export { addExpenses, type NewExpense } from './bulk.ts';
export { Expense, ExpenseInput, ExpensePatch, type ExpenseWithBudget, toExpense } from './expense.ts';
export {
  addExpense,
  createExpense,
  deleteExpense,
  getExpense,
  parseExpenseInput,
  parseExpensePatch,
  requireExpense,
  updateExpense,
} from './expenses.ts';
export { identify, KnownRows } from './known.ts';
export {
  checkRange,
  type ExpenseSort,
  type ExpensesRequest,
  expenseSorts,
  listCategories,
  listExpenses,
} from './list.ts';
export { type ExpenseFilter, matching, replaceDebit, withBudget } from './store.ts';
export { type ExpensesOfBudget, listExpensesOf } from './store-of-many.ts';
export { categoryField, expenseTable, type QuickEntry, quickEntry } from './views.ts';
