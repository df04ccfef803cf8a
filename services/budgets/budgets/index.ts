export { accessTo, checkRight, enter, readableBudget } from './access/access.ts';
export { passOnBudgets } from './access/inheritance.ts';
export type { AccessedBudget } from './access/store.ts';
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
  findBudgetRow,
  findBudgets,
  getBudget,
  listBudgets,
  listPlans,
  parseBudgetInput,
  parseBudgetPatch,
  requireBudget,
  updateBudget,
  viewOf,
} from './budgets.ts';
export { type BudgetDeletion, deleteBudget, deleteEmptyBudget } from './deletion.ts';
export { type BudgetStanding, getBudgetHistory, getBudgetSummary, listStandings } from './periods.ts';
export { addSpending, addSpendings, checkThresholds } from './spending.ts';
export { findSpending, type Spending } from './spending-of-many.ts';
export { budgetByNumber, budgetsWithIds, deleteExpenses } from './store.ts';
export {
  enterScope,
  idOfBudget,
  isTransfer,
  noBudget,
  numberedScope,
  scopeOf,
  transferChoice,
  transferTag,
  unassignedIn,
} from './unassigned.ts';
