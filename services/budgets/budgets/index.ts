export { Budget, BudgetInput, BudgetPatch, BudgetSummary, type PlannedBudget } from './budget.ts';
export {
  type BudgetsFilter,
  createBudget,
  findBudgets,
  getBudget,
  getBudgetSummary,
  listBudgets,
  listPlans,
  parseBudgetInput,
  parseBudgetPatch,
  requireBudget,
  updateBudget,
} from './budgets.ts';
export { type BudgetDeletion, deleteBudget } from './deletion.ts';
export { addSpending, addSpendings, checkThresholds } from './spending.ts';
export { findSpending, type Spending } from './spending-of-many.ts';
