import { createHash, type Hash } from 'node:crypto';
import { receiveUpload, type UploadOptions } from '@octavo/web/import-pages';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { type Tasks, writeTaskFile } from '../tasks/index.ts';

export const fileBytesMax = 50 * 1024 * 1024;
export const fieldBytesMax = 64 * 1024;

interface TaskUpload extends Pick<UploadOptions<string>, 'onFile'> {
  readonly caller: Caller;
  /** The task that gets the file. */
  readonly taskId: string;
}

/** Stores the file as it arrives, and returns the other fields. */
export async function receiveTaskFile(
  request: FastifyRequest,
  { context }: Pick<Tasks, 'context'>,
  { caller: { owner }, taskId, onFile }: TaskUpload,
): Promise<{ fields: Record<string, unknown>; fileName: string; digest: string }> {
  const hash = createHash('sha256');
  const { fields: texts, file: fileName } = await receiveUpload(request, {
    bytesMax: fileBytesMax,
    onFile,
    keep: async (chunks, name) => {
      await writeTaskFile(context, { owner, taskId, name: 'input' }, hashed(chunks, hash));
      return name;
    },
  });
  if (fileName === undefined) throw invalid({ file: 'is required' });
  const given = Object.entries(texts).map(([name, text]) => [name, fieldValue(name, text)] as const);
  const fields = Object.fromEntries(given);
  const digest = hash.update(JSON.stringify(Object.entries(fields).sort())).digest('base64url');
  return { fields, fileName, digest };
}

async function* hashed(chunks: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Fields of a form are texts. What is no boolean or number stays a text, which is refused. */
export function fieldValue(name: string, text: string): unknown {
  if (name === 'dryRun' || name === 'header') {
    return text === 'true' || text === '1' || (text !== 'false' && text !== '0' && text);
  }
  if (name === 'skipLines' || name === 'skipEnd') return /^\d{1,9}$/.test(text) ? Number(text) : text;
  if (name !== 'mapping') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ mapping: 'must be JSON' });
  }
}
