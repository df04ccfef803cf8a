import { createHash } from 'node:crypto';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { toAppError } from '#kit/errors.ts';
import { parseJson } from '#kit/http/body.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
import { checkRows, wholeRow } from './bulk.ts';
import { CreatePostRequest } from './post.ts';

/** What the thread is sent: the pieces of a body, its end, then one request after the other for rows. */
export type ToWorker = Uint8Array | { readonly end: true; readonly wantsDigest: boolean } | 'more';

/** What it answers: the verdict on the whole, then rows, so few at a time that taking them over is no pause. */
export type FromWorker =
  | { readonly failure: Failure }
  | { readonly errors: string[]; readonly digest: Uint8Array | undefined }
  | { readonly rows: CreatePostRequest[]; readonly isLast: boolean };

type Failure = Pick<ReturnType<typeof toAppError>, 'code' | 'message' | 'fields'>;

const charactersAtOnce = 256 * 1024;

if (parentPort) serve(parentPort);

function serve(port: MessagePort): void {
  const pieces: Uint8Array[] = [];
  let rows: CreatePostRequest[] = [];
  port.on('message', (message: ToWorker) => {
    if (message instanceof Uint8Array) {
      pieces.push(message);
    } else if (message === 'more') {
      const batch = nextRows(rows);
      rows = rows.slice(batch.length);
      answer(port, { rows: batch, isLast: rows.length === 0 });
    } else {
      try {
        const body = Buffer.concat(pieces);
        const checked = checkRows(parseJson(body), compileValidator(CreatePostRequest, wholeRow));
        rows = checked.rows;
        const digest = message.wantsDigest ? createHash('sha256').update(body).digest() : undefined;
        answer(port, { errors: checked.errors, digest });
      } catch (error) {
        const { code, message: text, fields } = toAppError(error);
        answer(port, { failure: { code, message: text, fields } });
      }
    }
  });
}

function nextRows(rows: readonly CreatePostRequest[]): CreatePostRequest[] {
  let characters = 0;
  const end = rows.findIndex(({ title, body }) => {
    characters += title.length + body.length;
    return characters > charactersAtOnce;
  });
  return rows.slice(0, end === -1 ? rows.length : Math.max(end, 1));
}

function answer(port: MessagePort, message: FromWorker): void {
  port.postMessage(message);
}
