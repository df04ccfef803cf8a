import { AppError } from '#kit/errors.ts';
import { parseDocument } from './parse.ts';
import type { ParseReply, ParseRequest } from './parsing.ts';

/** The process that reads documents, which is killed if that takes too long or too much memory. It has one document at a time. */

let chunks: AsyncGenerator<ParseReply> | undefined;

process.on('message', async (message: ParseRequest | 'next') => {
  try {
    if (message !== 'next') chunks = parseDocument(message);
    const { value, done } = (await chunks?.next()) ?? { done: true };
    process.send?.(done ? ({ kind: 'done' } satisfies ParseReply) : value);
  } catch (error) {
    process.send?.(failure(error));
  }
});
process.on('disconnect', () => process.exit());

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
