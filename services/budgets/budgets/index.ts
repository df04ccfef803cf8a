export {
  Budget,
  BudgetInput,
  BudgetPatch,
  BudgetSummary,
  budgetFields,
  type PlannedBudget,
} from './budget.ts';
export {
  type BudgetsFilter,
  createBudget,
  findBudgets,
  getBudget,
  listBudgets,
  listPlans,
  parseBudgetInput,
  parseBudgetPatch,
  requireBudget,
  updateBudget,
} from './budgets.ts';
export { type BudgetDeletion, deleteBudget } from './deletion.ts';
export { getBudgetHistory, getBudgetSummary } from './periods.ts';
export { addSpending, addSpendings, checkThresholds } from './spending.ts';
export { findSpending, type Spending } from './spending-of-many.ts';
export { budgetByNumber, deleteExpenses } from './store.ts';
export {
  budgetNumbers,
  budgetsNamed,
  idOfBudget,
  isTransfer,
  noBudget,
  transferTag,
  unassignedIn,
} from './unassigned.ts';
