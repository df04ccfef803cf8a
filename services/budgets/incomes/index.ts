export { addIncomes, releaseIncomesOf, takeBackIncomes } from './incomes.ts';
export { KnownIncomes } from './known.ts';
