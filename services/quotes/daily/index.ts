export { createDayKeys, type DayKeys, dayOf } from './permutation.ts';
export { currentRound, earlierDays, joinRound, quoteOfDay } from './store.ts';
