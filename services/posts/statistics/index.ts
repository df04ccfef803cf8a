export { countByDay } from './days.ts';
export { type CountedPost, StatisticsDelta } from './delta.ts';
export { recountStatistics } from './recount.ts';
export {
  addNewPosts,
  addStatistics,
  countPosts,
  lastPostId,
  postUpTo,
  type ReservedIds,
  readAnalytics,
} from './store.ts';
