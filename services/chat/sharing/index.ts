export { type SharedTurn, type Snapshot, sharedMs } from './share.ts';
export {
  deleteEndedShares,
  endSharesOf,
  endSharesQuoting,
  findShare,
  readShared,
  type Share,
  type ShareParts,
  shareSession,
  unshareSession,
} from './store.ts';
