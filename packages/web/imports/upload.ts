import type { MultipartFile } from '@fastify/multipart';
import { AppError } from '@octavo/core';
import type { FastifyRequest } from 'fastify';
import { formatNumber } from '../html/format.ts';

export interface UploadOptions<T> {
  readonly bytesMax: number;
  /** Called with the fields before the file, which it may refuse: of a page's form it checks the token. */
  readonly onFile?: ((fields: Readonly<Record<string, string>>) => void) | undefined;
  /** Stores the file while it arrives. */
  readonly keep: (chunks: AsyncIterable<Uint8Array>, name: string) => Promise<T>;
}

export interface Upload<T> {
  readonly fields: Readonly<Record<string, string>>;
  /** Result of `keep`; undefined if no file was chosen. */
  readonly file: T | undefined;
}

/**
 * Receives a multipart form with one file, in a scope that has `@fastify/multipart`. Throws `unsupported_media_type`, `too_large`,
 * `invalid_input` for a malformed form, and `canceled` if the client goes before the end.
 */
export async function receiveUpload<T>(
  request: FastifyRequest,
  options: UploadOptions<T>,
): Promise<Upload<T>> {
  const { bytesMax, onFile, keep } = options;
  if (!request.isMultipart())
    throw new AppError('unsupported_media_type', 'The request body must be multipart/form-data.');
  const fields: Record<string, string> = {};
  let file: T | undefined;
  try {
    for await (const part of request.formParts({ fileSize: bytesMax })) {
      if (part.type === 'field') {
        if (typeof part.value === 'string' && part.value !== '') fields[part.fieldname] = part.value;
        continue;
      }
      onFile?.(fields);
      if (part.filename) file = await keep(wholeFile(part, bytesMax), part.filename.replaceAll('\0', ''));
      else part.file.resume();
    }
  } catch (error) {
    throw inWords(error, request, bytesMax);
  }
  return { fields, file };
}

/** The bytes of a file. A file that is too large fails instead of ending early. */
async function* wholeFile({ file }: MultipartFile, bytesMax: number): AsyncGenerator<Uint8Array> {
  yield* file;
  if (file.truncated) throw tooLarge(bytesMax);
}

function tooLarge(bytesMax: number): AppError {
  return new AppError('too_large', `The file must be at most ${formatNumber(bytesMax / 1024 / 1024)} MB.`);
}

/** The errors of the multipart parser, by their codes. */
function inWords(error: unknown, { raw }: FastifyRequest, bytesMax: number): unknown {
  if (error instanceof AppError) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (!raw.complete && raw.destroyed)
    return new AppError('canceled', 'The upload was interrupted.', { cause: error });
  if (code === 'FST_REQ_FILE_TOO_LARGE' || statusCode === 413) return tooLarge(bytesMax);
  if (code?.startsWith('FST_') || statusCode === 400)
    return new AppError('invalid_input', 'The form is malformed.', { cause: error });
  return error;
}
