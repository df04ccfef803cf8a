import { csvHeader, csvRecords } from './csv.ts';
import { isoTime } from './iso-time.ts';
import type { Post } from './post.ts';

/** How an export is written: `head`, then batches (none of them empty), then `tail`. */
export interface ExportFormat {
  readonly extension: 'json' | 'csv';
  readonly contentType: string;
  readonly head: string;
  readonly tail: string;
  batch(posts: readonly Post[], isFirst: boolean): string;
}

export const jsonFormat: ExportFormat = {
  extension: 'json',
  contentType: 'application/json; charset=utf-8',
  head: '[',
  tail: ']',
  batch: (posts, isFirst) => {
    const items = JSON.stringify(posts).slice(1, -1);
    return isFirst ? items : `,${items}`;
  },
};

export function csvFormat({ withMark, safe }: { withMark: boolean; safe: boolean }): ExportFormat {
  return {
    extension: 'csv',
    contentType: 'text/csv; charset=utf-8; header=present',
    head: withMark ? `\uFEFF${csvHeader}` : csvHeader,
    tail: '',
    batch: (posts) => csvRecords(posts, { safe }),
  };
}

/** `posts_export_YYYYMMDD_HHMMSS.json`, UTC. */
export function exportName(timeMs: number, { extension }: ExportFormat): string {
  const [date = '', time = ''] = isoTime(timeMs).slice(0, 19).split('T');
  return `posts_export_${date.replaceAll('-', '')}_${time.replaceAll(':', '')}.${extension}`;
}
