import { once } from 'node:events';
import { AppError } from '#kit/base/errors.ts';
import { parseDocument } from './parse.ts';
import type { ParseCommand, ParseReply } from './parsing.ts';

/** The process that reads documents, which is killed if that takes too long or too much memory. It has one document at a time. */

let chunks: AsyncGenerator<ParseReply> | undefined;

process.on('message', async (message: ParseCommand | 'next') => {
  try {
    if (message !== 'next') chunks = parseDocument({ ...message, bytes: await receive(message.bytesLength) });
    const { value, done } = (await chunks?.next()) ?? { done: true };
    process.send?.(done ? ({ kind: 'done' } satisfies ParseReply) : value);
  } catch (error) {
    process.send?.(failure(error));
  }
});
process.on('disconnect', () => process.exit());

/** The bytes of one document, which are all that is sent until it is done. */
async function receive(length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let offset = 0; offset < length; ) {
    const piece: Buffer | null = process.stdin.read();
    if (piece) {
      bytes.set(piece, offset);
      offset += piece.length;
    } else {
      await once(process.stdin, 'readable');
    }
  }
  return bytes;
}

function failure(error: unknown): ParseReply {
  if (error instanceof AppError) return { kind: 'failed', code: error.code, message: error.message };
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    kind: 'failed',
    code: 'unprocessable',
    message: 'The file is damaged or not what its name says.',
    cause,
  };
}
