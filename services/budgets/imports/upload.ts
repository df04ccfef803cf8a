import { createHash, type Hash } from 'node:crypto';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { AppError } from '#kit/errors.ts';
import { invalid } from '#kit/schema-parser.ts';
import type { Caller } from '../commands.ts';
import { type Tasks, writeTaskFile } from '../tasks/index.ts';

export const fileBytesMax = 50 * 1024 * 1024;
export const fieldBytesMax = 64 * 1024;

interface Upload {
  readonly caller: Caller;
  /** The task that gets the file. */
  readonly taskId: string;
  /** Gets the fields before the file, and may throw before it is stored. */
  onFile?(fields: Readonly<Record<string, unknown>>): void;
}

/** Stores the file as it arrives, and returns the other fields. */
export async function receiveUpload(
  request: FastifyRequest,
  { core }: Pick<Tasks, 'core'>,
  { caller: { owner }, taskId, onFile }: Upload,
): Promise<{ fields: Record<string, unknown>; fileName: string; digest: string }> {
  if (!request.isMultipart())
    throw new AppError('unsupported_media_type', 'The request body must be multipart/form-data.');
  const fields: Record<string, unknown> = {};
  const hash = createHash('sha256');
  let hasFile = false;
  let fileName = '';
  try {
    for await (const part of request.parts({ limits: { fileSize: fileBytesMax } })) {
      if (part.type === 'file') {
        hasFile = true;
        fileName = part.filename ?? '';
        onFile?.(fields);
        const chunks = hashed((part as MultipartFile).file, hash);
        await writeTaskFile(core, { owner, taskId, name: 'input' }, chunks);
      } else if (typeof part.value === 'string' && part.value !== '') {
        fields[part.fieldname] = fieldValue(part.fieldname, part.value);
      }
    }
  } catch (error) {
    throw inWords(error);
  }
  if (!hasFile) throw invalid({ file: 'is required' });
  const digest = hash.update(JSON.stringify(Object.entries(fields).sort())).digest('base64url');
  return { fields, fileName, digest };
}

async function* hashed(chunks: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

function fieldValue(name: string, text: string): unknown {
  if (name === 'dryRun') return text === 'true' || text === '1' || (text !== 'false' && text !== '0' && text);
  if (name !== 'mapping') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ mapping: 'must be JSON' });
  }
}

/** The errors of the multipart parser, by their codes. */
function inWords(error: unknown): unknown {
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_REQ_FILE_TOO_LARGE' || statusCode === 413)
    return new AppError('too_large', `The file must be at most ${fileBytesMax} bytes.`);
  if (code?.startsWith('FST_') || statusCode === 400)
    return new AppError('invalid_input', 'The form is malformed.', { cause: error });
  return error;
}
