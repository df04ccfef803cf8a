export {
  addDueExpenses,
  createRecurring,
  deleteRecurring,
  getRecurring,
  listRecurring,
  updateRecurring,
} from './commands.ts';
export { Recurring, RecurringInput, RecurringPatch } from './recurring.ts';
