import { isoTime } from '@octavo/core';
import { byteOrderMark, csvCell } from '@octavo/core/text';
import type { Post } from '../posts/index.ts';

/** Text of an export: `head`, then batches (none of them empty), then `tail`. */
export interface ExportFormat {
  readonly extension: 'json' | 'csv';
  readonly contentType: string;
  readonly head: string;
  readonly tail: string;
  batch(posts: readonly Post[], isFirst: boolean): string;
}

export const csvHeader = 'id,userId,title,body,createdAt,updatedAt\r\n';

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
    head: withMark ? byteOrderMark + csvHeader : csvHeader,
    tail: '',
    batch: (posts) => csvRecords(posts, { safe }),
  };
}

/** One record of RFC 4180 for each post. If `safe`, no text can act as a formula in a spreadsheet. */
export function csvRecords(posts: readonly Post[], options: { readonly safe: boolean }): string {
  const { safe } = options;
  let records = '';
  for (const { id, userId, title, body, createdAt, updatedAt } of posts) {
    const texts = `${csvCell(title, safe)},${csvCell(body, safe)}`;
    records += `${id},${userId},${texts},${createdAt},${updatedAt}\r\n`;
  }
  return records;
}

/** `posts_export_YYYYMMDD_HHMMSS.json`, UTC. */
export function exportName(timeMs: number, { extension }: ExportFormat): string {
  const [date = '', time = ''] = isoTime(timeMs).slice(0, 19).split('T');
  return `posts_export_${date.replaceAll('-', '')}_${time.replaceAll(':', '')}.${extension}`;
}
