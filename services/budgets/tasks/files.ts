import type { Context } from '../commands.ts';
import { deleteFile, insertPart, partOf } from './store.ts';

/** A file of a task. It is in the database, so that any worker can read it. */
export interface TaskFile {
  readonly owner: number;
  readonly taskId: string;
  readonly name: 'input' | 'output';
}

const partBytes = 256 * 1024;

/** Stores a file in parts as it arrives, and returns its size. An earlier one with the same name is replaced. */
export async function writeTaskFile(
  { db }: Context,
  file: TaskFile,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<number> {
  await deleteFile(db, { ...file });
  let size = 0;
  let part = 0;
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  const flush = async () => {
    await insertPart(db, { ...file, part: part++, bytes: Buffer.concat(waiting) });
    waiting = [];
    waitingBytes = 0;
  };
  for await (const chunk of chunks) {
    size += chunk.length;
    waiting.push(chunk);
    waitingBytes += chunk.length;
    if (waitingBytes >= partBytes) await flush();
  }
  if (waitingBytes > 0) await flush();
  return size;
}

/** The parts of a file in order; none if there is no such file. */
export async function* readTaskFile({ db }: Context, file: TaskFile): AsyncGenerator<Uint8Array, void> {
  for (let part = 0; ; part++) {
    const row = await partOf(db, { ...file, part });
    if (!row) return;
    yield row.bytes;
  }
}

export async function deleteTaskFile({ db }: Context, file: TaskFile): Promise<void> {
  await deleteFile(db, { ...file });
}
