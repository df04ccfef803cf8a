import { createHash } from 'node:crypto';
import { serveTasks } from '@octavo/core/concurrency';
import { compileValidator, parseJson } from '@octavo/web/validation';
import { CreatePostRequest } from '../posts/index.ts';
import { checkRequest, wholeRow } from './bulk.ts';

/** A worker thread that parses and checks one large body. */
export type BulkTasks = typeof tasks;

const chunks: Uint8Array[] = [];
let rows: CreatePostRequest[] = [];

/** Length of text that the main thread takes over in one turn of its event loop. */
const batchCharacters = 256 * 1024;

const tasks = {
  append(chunk: Uint8Array): void {
    chunks.push(chunk);
  },

  check({ wantsDigest }: { wantsDigest: boolean }): { errors: string[]; digest: Uint8Array | undefined } {
    const body = Buffer.concat(chunks);
    const checked = checkRequest(parseJson(body), compileValidator(CreatePostRequest, wholeRow));
    rows = checked.rows;
    const digest = wantsDigest ? createHash('sha256').update(body).digest() : undefined;
    return { errors: checked.errors, digest };
  },

  /** The checked rows in batches. */
  *takeRows(): Generator<CreatePostRequest[]> {
    for (let start = 0; start < rows.length; ) {
      const end = batchEnd(start);
      yield rows.slice(start, end);
      start = end;
    }
  },
};

serveTasks(tasks);

/** End of a batch of at least one row. */
function batchEnd(start: number): number {
  let characters = 0;
  for (let index = start; index < rows.length; index++) {
    const { title = '', body = '' } = rows[index] ?? {};
    characters += title.length + body.length;
    if (characters > batchCharacters) return Math.max(index, start + 1);
  }
  return rows.length;
}
