import type { MultipartFile } from '@fastify/multipart';
import { AppError, toAppError } from '@octavo/core';
import type { FastifyRequest } from 'fastify';
import { invalidValue } from '../errors.ts';
import { limits } from './document.ts';
import { type IngestParts, type Uploaded, type UploadedFile, type UploadOptions, upload } from './ingest.ts';

export type UploadFields = Readonly<Record<string, string>>;

/** Limits on the parts of a form with files. */
export const formLimits = {
  fileSize: limits.fileBytesMax,
  files: limits.filesMax,
  fields: 40,
  fieldSize: 4_096,
};

/** Reads a form with files; they are in memory, which the limit of the body bounds. Throws an `AppError`. */
export async function receiveFiles(
  request: FastifyRequest,
): Promise<{ files: UploadedFile[]; fields: UploadFields }> {
  if (!request.isMultipart())
    throw new AppError('unsupported_media_type', 'The request body must be multipart/form-data.');
  const tooMuch = tooLarge(`A request must be at most ${limits.requestBytesMax} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > limits.requestBytesMax) throw tooMuch;
  const files: UploadedFile[] = [];
  const fields: Record<string, string> = {};
  let size = 0;
  try {
    for await (const part of request.formParts(formLimits)) {
      if (part.type === 'file') {
        const { filename, file, fieldname } = part as MultipartFile;
        const bytes = await bytesOf(file, (more) => {
          size += more;
          if (size > limits.requestBytesMax) throw tooMuch;
        });
        if (fieldname === 'file' || fieldname === 'files[]') files.push({ filename: filename ?? '', bytes });
      } else if (typeof part.value === 'string') {
        if (!part.value.isWellFormed() || part.value.includes('\0'))
          throw invalidValue(part.fieldname, 'must be well-formed Unicode without U+0000');
        const known = fields[part.fieldname];
        fields[part.fieldname] = known === undefined ? part.value : `${known},${part.value}`;
      }
    }
  } catch (error) {
    throw inWords(error);
  }
  if (files.length === 0) throw invalidValue('file', 'is required');
  return { files, fields };
}

/** Outcome for each file. */
export interface UploadResults {
  readonly uploads: readonly Uploaded[];
  readonly failures: readonly { readonly filename: string; readonly error: AppError }[];
}

/** Uploads each file by itself: one that fails does not stop the others. */
export async function uploadEach(
  parts: IngestParts,
  files: readonly UploadedFile[],
  options: UploadOptions,
): Promise<UploadResults> {
  const uploads: Uploaded[] = [];
  const failures: { filename: string; error: AppError }[] = [];
  for (const file of files) {
    try {
      uploads.push(await upload(parts, file, options));
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === 'internal') parts.log.error({ err: thrown }, 'an upload failed');
      failures.push({ filename: file.filename, error });
    }
  }
  return { uploads, failures };
}

async function bytesOf(file: AsyncIterable<Uint8Array>, count: (bytes: number) => void): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of file) {
    count(piece.length);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function tooLarge(message: string): AppError {
  return new AppError('too_large', message);
}

/** The errors of the multipart parser, by their codes. */
function inWords(error: unknown): unknown {
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_FILES_LIMIT') return invalidValue('file', `must be at most ${limits.filesMax} files`);
  if (code === 'FST_REQ_FILE_TOO_LARGE' || statusCode === 413)
    return tooLarge(`A file must be at most ${limits.fileBytesMax} bytes.`);
  if (code?.startsWith('FST_') || statusCode === 400)
    return new AppError('invalid_input', 'The form is malformed.', { cause: error });
  return error;
}
