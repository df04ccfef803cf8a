import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallOptions } from '#kit/rpc/index.ts';
import { type Static, Type } from '#kit/schema.ts';
import { csvFormat, type ExportFormat, exportName, jsonFormat } from './export-format.ts';
import { FilterQuery, toFilter } from './listing.ts';
import { toPost } from './post.ts';
import type { Posts } from './posts.ts';

export const ExportQuery = Type.Object({
  ...FilterQuery.properties,
  format: Type.Enum(['json', 'csv'], { default: 'json' }),
  bom: Type.Enum(['0', '1'], { default: '0', description: 'CSV: 1 starts with a byte order mark' }),
  safe: Type.Enum(['0', '1'], { default: '1', description: 'CSV: 0 leaves text that looks like a formula' }),
});
export type ExportQuery = Static<typeof ExportQuery>;

/** In the order in which we like them. */
export const exportCodings = ['zstd', 'gzip'] as const;

/** A file of posts, which is made while it is read: nothing is asked of the backend before the first piece is. */
export interface ExportFile {
  readonly headers: Readonly<Record<'content-type' | 'content-disposition', string>>;
  readonly pieces: AsyncIterable<string>;
  readonly format: ExportFormat;
  /** When it was asked for. */
  readonly startedMs: number;
}

export function exportFile(
  query: ExportQuery,
  options: { posts: Posts; nowMs: number; call: CallOptions },
): ExportFile {
  const { posts, nowMs, call } = options;
  const filter = toFilter(query);
  const format = formatOf(query);
  return {
    headers: {
      'content-type': format.contentType,
      'content-disposition': `attachment; filename="${exportName(nowMs, format)}"`,
    },
    pieces: piecesOf(() => posts.export(filter, call), format),
    format,
    startedMs: nowMs,
  };
}

function formatOf({ format, bom, safe }: ExportQuery): ExportFormat {
  return format === 'json' ? jsonFormat : csvFormat({ withMark: bom === '1', safe: safe === '1' });
}

async function* piecesOf(
  ask: () => ReturnType<Posts['export']>,
  format: ExportFormat,
): AsyncGenerator<string, void, undefined> {
  let head = format.head;
  let isFirst = true;
  for await (const { posts } of ask()) {
    if (posts.length === 0) continue;
    yield head + format.batch(posts.map(toPost), isFirst);
    // What has come over the network is there at once, a megabyte of it: others get their turn between batches.
    await nextTurn();
    head = '';
    isFirst = false;
  }
  yield head + format.tail;
}
