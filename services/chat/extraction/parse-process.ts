import { once } from 'node:events';
import { AppError } from '@octavo/core';
import { parseDocument } from './parse.ts';
import type { ParseCommand, ParseReply } from './parsing.ts';

/** The process that reads documents and draws their pages, which is killed if that takes too long or too much memory. It has one document at a time. */

let replies: AsyncGenerator<ParseReply> | undefined;

process.on('message', async (message: ParseCommand | 'next') => {
  try {
    if (message !== 'next') replies = repliesTo(message, await receive(message.bytesLength));
    const { value, done } = (await replies?.next()) ?? { done: true };
    process.send?.(done ? ({ kind: 'done' } satisfies ParseReply) : value);
  } catch (error) {
    process.send?.(failure(error));
  }
});
process.on('disconnect', () => process.exit());

async function* repliesTo(command: ParseCommand, bytes: Uint8Array): AsyncGenerator<ParseReply> {
  if (!('page' in command)) return yield* parseDocument({ ...command, bytes });
  const { drawPdfPage } = await import('./pdf-picture.ts');
  yield { kind: 'page', png: await drawPdfPage({ ...command, bytes }) };
}

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
