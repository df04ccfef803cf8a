import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, type Static, Type } from '@octavo/core';
import type { PostFilter, PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { CallOptions, Client } from '@octavo/rpc';
import { toPost } from '../posts/index.ts';
import { csvFormat, type ExportFormat, exportName, jsonFormat } from './format.ts';

/** Format of a file. */
export const FormatQuery = Type.Object({
  format: Type.Enum(['json', 'csv'], { default: 'json' }),
  bom: Type.Enum(['0', '1'], { default: '0', description: 'CSV: 1 starts with a byte order mark' }),
  safe: Type.Enum(['0', '1'], {
    default: '1',
    description: 'CSV: 0 leaves text that looks like a formula unchanged',
  }),
});

/** Filter and format of an export. */
export interface ExportRequest extends Static<typeof FormatQuery> {
  readonly filter: PostFilter;
}

/** Encodings in order of preference. */
export const exportEncodings = ['zstd', 'gzip'] as const;

/** A file of posts that is written while it is read. The posts service is called when the first chunk is read. */
export interface ExportFile {
  readonly headers: Readonly<Record<'content-type' | 'content-disposition', string>>;
  readonly chunks: AsyncIterable<string>;
  readonly format: ExportFormat;
  /** Time of the request. */
  readonly startedMs: number;
}

export function exportFile(
  request: ExportRequest,
  options: { posts: Client<PostServiceDefinition>; nowMs: number; call: CallOptions },
): ExportFile {
  const { posts, nowMs, call } = options;
  const { filter } = request;
  const format = formatOf(request);
  return {
    headers: {
      'content-type': format.contentType,
      'content-disposition': `attachment; filename="${exportName(nowMs, format)}"`,
    },
    chunks: chunksOf((signal) => posts.exportPosts({ filter }, { ...call, signal }), format),
    format,
    startedMs: nowMs,
  };
}

function formatOf({ format, bom, safe }: ExportRequest): ExportFormat {
  return format === 'json' ? jsonFormat : csvFormat({ withMark: bom === '1', safe: safe === '1' });
}

type Start = (signal: AbortSignal) => ReturnType<Client<PostServiceDefinition>['exportPosts']>;

// Later batches wait for the client as well, so they have the longer limit of the stream.
const firstBatchTimeoutMs = 5_000;

async function* chunksOf(start: Start, format: ExportFormat): AsyncGenerator<string, void, undefined> {
  let head = format.head;
  let isFirst = true;
  for await (const { posts } of withDeadline(start)) {
    if (posts.length === 0) continue;
    yield head + format.batch(posts.map(toPost), isFirst);
    // Batches that came over the network are there at once. Other requests get their turn between them.
    await nextTurn();
    head = '';
    isFirst = false;
  }
  yield head + format.tail;
}

/** Throws `timeout` if the first batch is late. */
async function* withDeadline(start: Start): ReturnType<Start> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), firstBatchTimeoutMs);
  try {
    for await (const batch of start(late.signal)) {
      clearTimeout(timer);
      yield batch;
    }
  } catch (error) {
    if (!late.signal.aborted) throw error;
    throw new AppError('timeout', 'The post service did not answer in time.', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
