export { Budget, BudgetInput, BudgetPatch, BudgetSummary, type Plan } from './budget.ts';
export {
  type BudgetDeletion,
  type BudgetsFilter,
  createBudget,
  deleteBudget,
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
export { addSpending, addSpendings, checkThresholds } from './spending.ts';
export { findSpending, type Spending } from './spending-of-many.ts';
