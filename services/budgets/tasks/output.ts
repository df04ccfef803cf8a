import { notFound } from '@octavo/core';
import type { Caller, Context } from '../commands.ts';
import { readTaskFile } from './files.ts';
import { requireTask } from './tasks.ts';

/** The result of a task that has written a file. */
export interface FileResult {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

/** The file of a completed task. Throws `not_found` if it has none. */
export async function outputOf(
  context: Context,
  { owner }: Caller,
  id: string,
): Promise<{ headers: Record<string, string>; chunks: AsyncIterable<Uint8Array> }> {
  const { result, status } = await requireTask(context.db, owner, id);
  const file = status === 'completed' && result !== null ? (JSON.parse(result) as Partial<FileResult>) : {};
  if (!file.name || !file.mediaType) throw notFound('file of task', id);
  return {
    headers: {
      'content-type': file.mediaType,
      'content-disposition': `attachment; filename="${file.name}"`,
      'content-length': String(file.bytes),
    },
    chunks: readTaskFile(context, { owner, taskId: id, name: 'output' }),
  };
}
