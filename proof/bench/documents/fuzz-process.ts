/**
 * A process that reads damaged files one after another, as the one that reads uploads does, and tells of each before and after:
 * `node fuzz-process.ts FOLDER SEED FROM STEP COUNT [fallback]`. It ends early where it has grown, so that the next one goes on. With
 * `fallback` the first file is one that took too much, and is read in the other way.
 */
import { AppError } from '@octavo/core';
import { parseDocument } from '../../../services/chat/extraction/parse.ts';
import type { ParseRequest } from '../../../services/chat/extraction/parsing.ts';
import { damagedFile, originalsIn } from './fuzz-files.ts';

/** The start of a file, or its end with an outcome: `internal` is an error that no reader foresaw. */
export interface FuzzReply {
  readonly index: number;
  readonly name: string;
  readonly outcome?: 'read' | 'refused' | 'internal';
  readonly cause?: string;
}

const keptMemoryBytes = 256 * 1024 * 1024;
const [folder = '', ...numbers] = process.argv.slice(2);
const [seed = 0, from = 0, step = 1, count = 0] = numbers.map(Number);
const hasFailed = numbers[4] === 'fallback';
const originals = originalsIn(folder);
const tell = (reply: FuzzReply) =>
  new Promise<void>((resolve) => {
    process.send?.(reply, () => resolve());
  });

for (let index = from; index < count; index += step) {
  const { name, mediaType, bytes } = damagedFile(originals, seed, index);
  const usesFallback = hasFailed && index === from;
  await tell({ index, name });
  await tell({ index, name, ...(await outcomeOf({ filename: name, mediaType, bytes, usesFallback })) });
  if (process.memoryUsage.rss() > keptMemoryBytes) break;
}
process.exit(0);

async function outcomeOf(
  file: Pick<ParseRequest, 'filename' | 'mediaType' | 'bytes' | 'usesFallback'>,
): Promise<Pick<FuzzReply, 'outcome' | 'cause'>> {
  try {
    const request = { ...file, library: 0, dialect: 'sqlite' as const };
    for await (const _reply of parseDocument(request));
    return { outcome: 'read' };
  } catch (error) {
    if (error instanceof AppError) return { outcome: 'refused' };
    const { stack = String(error) } = error as Error;
    return { outcome: 'internal', cause: stack.split('\n').slice(0, 2).join(' ').slice(0, 160) };
  }
}
