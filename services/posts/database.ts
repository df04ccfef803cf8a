import {
  type Database,
  type DatabaseOptions,
  type HealthTables,
  openDatabase,
  type Session,
} from '@octavo/data';
import type { EventTables } from '@octavo/data/events';
import type { JobTables } from '@octavo/data/jobs';

export const migrations = new URL('./migrations/', import.meta.url);

/** Every transaction that changes posts takes this lock first: ids then rise in the order of commits. */
export const writeLock = 'posts';

/** Opens the database for threads and for processes that do not serve posts. */
export function openPostDatabase(
  place: Omit<DatabaseOptions, 'name' | 'migrations'>,
): Promise<Database<Tables>> {
  return openDatabase<Tables>({ name: 'posts', migrations, ...place });
}

export interface Tables extends EventTables, JobTables, HealthTables {
  post: PostRow;
  deleted_post: Omit<PostRow, 'folded'> & { deleted_at_ms: number };
  post_total: TotalRow;
  user_tally: { user_id: number; posts: number };
  character_tally: { code_point: number; occurrences: number };
  length_tally: { length: number; posts: number };
  hour_tally: { hour: number; posts: number };
  statistics_repair: { only_row: number; repairs: number };
  bulk_reply: BulkReplyRow;
  post_sentiment: SentimentRow;
  reanalysis: ReanalysisRow;
}

/** Place where queries run: the database, a snapshot or a transaction. */
export type Store = Session<Tables>;

export interface PostRow {
  id: number;
  user_id: number;
  title: string;
  body: string;
  created_at_ms: number;
  updated_at_ms: number;
  revision: number;
  /** Normalized text, as `storedNormalized` of packages/data/search returns it. */
  folded: string | null;
}

export interface TotalRow {
  only_row: number;
  last_id: number;
  last_created_at_ms: number;
  posts: number;
  characters: number;
}

export interface BulkReplyRow {
  idempotency_key: string;
  digest: Uint8Array;
  ids: string;
  errors: string;
  created_at_ms: number;
  /** Absent in replies of earlier versions. */
  posts_created_at_ms: number | null;
}

export interface SentimentRow {
  post_id: number;
  revision: number;
  label: 'negative' | 'neutral' | 'positive';
  negative: number;
  neutral: number;
  positive: number;
  model: string;
  classified_at_ms: number;
}

export interface ReanalysisRow {
  id: string;
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled';
  run: string;
  progress: number;
  created_at_ms: number;
  started_at_ms: number | null;
  finished_at_ms: number | null;
  seen_at_ms: number;
  posts: number | null;
  repaired: number | null;
  classified_to: number;
  classified: number;
  labels_changed: number;
  error: string | null;
}
