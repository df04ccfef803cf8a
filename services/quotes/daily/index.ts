export { createDayKeys, type DayKeys, dayOf } from './permutation.ts';
export { currentRound, earlierDays, quoteOfDay } from './store.ts';
