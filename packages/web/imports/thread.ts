import type { ConcurrencyLimiter } from '@octavo/core/concurrency';
import { WorkerPool } from '@octavo/core/concurrency';

/** Tasks of a worker that reads one file, with `serveTasks`. */
export type FileTasks<Options, Rows> = {
  open(options: Options): void;
  push(bytes: Uint8Array): Rows;
  end(input: undefined): Rows;
};

export interface ThreadOptions<Options> {
  /** The worker's module, which serves {@link FileTasks}. */
  readonly module: URL;
  /** Input of `open`. */
  readonly options: Options;
  /** Aborts: the thread ends at once, and reading throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Slots of which one is taken while a piece is read, never while the result is saved or the file is waited for. */
  readonly slots?: ConcurrencyLimiter | undefined;
}

/** Size of a piece that is read at once: the rows of more would take the event loop too long to receive. */
const pieceBytes = 64 * 1024;
const heapMegabytesMax = 128;

/** Reads a file in a thread of its own, whose memory is freed with it. No piece is read before the consumer asks for it. */
export async function* readInThread<Options, Rows>(
  body: AsyncIterable<Uint8Array>,
  { module, options, signal, slots }: ThreadOptions<Options>,
): AsyncGenerator<{ readonly rows: Rows; readonly readBytes: number }> {
  await using thread = new WorkerPool<FileTasks<Options, Rows>>(module, {
    name: 'import',
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    terminateOnAbort: true,
  });
  const take = (work: () => Promise<Rows>) => (slots ? slots.run(work, signal) : work());
  await thread.run('open', options, { signal });
  let readBytes = 0;
  for await (const piece of pieces(body)) {
    readBytes += piece.length;
    yield { rows: await take(() => thread.run('push', piece, { signal })), readBytes };
  }
  yield { rows: await take(() => thread.run('end', undefined, { signal })), readBytes };
}

/** The bytes in pieces of one size, so that reading a file again gives the same rows for each piece. */
async function* pieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let piece = new Uint8Array(pieceBytes);
  let filled = 0;
  for await (const chunk of body) {
    for (let start = 0; start < chunk.length; ) {
      const part = chunk.subarray(start, start + pieceBytes - filled);
      piece.set(part, filled);
      start += part.length;
      filled += part.length;
      if (filled < pieceBytes) continue;
      yield piece;
      piece = new Uint8Array(pieceBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.slice(0, filled);
}
