import type { EventTables } from '#kit/events/index.ts';
import type { JobTables } from '#kit/jobs/index.ts';

/** The tables of this service; those of the search index exist on SQLite only. */
export interface Tables extends EventTables, JobTables {
  post: PostRow;
  post_sentiment: SentimentRow;
  reanalysis: ReanalysisRow;
  statistics_repair: { only_row: number; repairs: number };
  post_total: TotalRow;
  user_tally: { user_id: number; posts: number };
  character_tally: { code_point: number; occurrences: number };
  length_tally: { length: number; posts: number };
  hour_tally: { hour: number; posts: number };
  bulk_reply: BulkReplyRow;
  search_segment: SegmentRow;
  search_page: PageRow;
  search_stale: { post_id: number; change: number };
  search_lease: { only_row: number; holder: string; until_ms: number };
}

export interface PostRow {
  id: number;
  user_id: number;
  title: string;
  body: string;
  created_at_ms: number;
  updated_at_ms: number;
  revision: number;
  folded: string | null;
}

export interface TotalRow {
  only_row: number;
  last_id: number;
  last_created_at_ms: number;
  last_change: number;
  posts: number;
  characters: number;
}

export interface BulkReplyRow {
  idempotency_key: string;
  digest: Uint8Array;
  ids: string;
  errors: string;
  created_at_ms: number;
}

export interface SegmentRow {
  id: number;
  first_id: number;
  span: number;
  state: 'building' | 'live' | 'dead';
}

export interface PageRow {
  id: number;
  segment_id: number;
  kind: number;
  first_key: Uint8Array;
  data: Uint8Array;
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
