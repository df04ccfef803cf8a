export { type CountedPost, StatisticsDelta } from './delta.ts';
export { type RecountReport, recountStatistics } from './recount.ts';
export {
  type Analytics,
  addNewPosts,
  addStatistics,
  countPosts,
  lastPostId,
  type ReservedIds,
  readAnalytics,
} from './store.ts';
