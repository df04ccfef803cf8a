export {
  cancelReanalysis,
  type DeadJobs,
  deadJobs,
  getReanalysis,
  listReanalyses,
  requestReanalysis,
} from './reanalyses.ts';
export type { Reanalysis } from './store.ts';
export { startReanalyses } from './worker.ts';
