import { createHash } from 'node:crypto';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyReply } from 'fastify';
import { AppError } from '#kit/errors.ts';
import { csrfFieldName } from '#kit/html/csrf.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
import { Type } from '#kit/schema.ts';
import { checkRows, type ReadRow, wholeRow } from '../bulk.ts';
import { pageRoutes } from '../page-routes.ts';
import { CreatePostRequest } from '../post.ts';
import { type ImportResult, importPage, type RowError } from '../views/import.ts';
import { importFile, type SaveRows } from './import-file.ts';
import type { PageParts, Ticket } from './parts.ts';
import type { ForReaders, Reader } from './reader.ts';

type Parts = Pick<PageParts, 'posts'> & { readonly readRow: ReadRow };

const fileMegabytesMax = 256;
const fileBytesMax = fileMegabytesMax * 1024 * 1024;
const rowsBytesMax = 16 * 1024 * 1024;

/** Rows that the browser module read out of a file: the number of the first, and a key so that sending twice saves once. */
const RowsRequest = Type.Object({
  key: Type.String({ pattern: '^[\\w-]{1,80}$' }),
  first: Type.Integer({ minimum: 1 }),
  posts: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 1_000 }),
});

export function addImportPages(
  routes: PageRoutes<Ticket>,
  forReaders: ForReaders,
  { posts }: Pick<PageParts, 'posts'>,
): void {
  const parts = { posts, readRow: compileValidator(CreatePostRequest, wholeRow) };
  routes.get(
    pageRoutes.importPosts,
    forReaders('post', 'write', async ({ frame }) => importPage(frame())),
  );
  routes.post(
    pageRoutes.importPosts,
    forReaders('post', 'write', (reader) => importUpload(reader, parts)),
    { accepts: 'multipart/form-data', bodyBytesMax: fileBytesMax },
  );
  routes.post(pageRoutes.importRows, forReaders('post', 'write', importRows(parts)), {
    accepts: 'application/json',
    bodyBytesMax: rowsBytesMax,
  });
}

/** One piece of an import by the browser module. */
function importRows(parts: Parts): (reader: Reader) => Promise<FastifyReply> {
  const readRequest = compileValidator(RowsRequest);
  return async (reader) => {
    const { request, reply } = reader.visit;
    const reading = readRequest(request.body);
    if (reading.fields) throw new AppError('invalid_input', 'These are no rows.', { fields: reading.fields });
    const { key, first, posts } = reading.value;
    const digest = createHash('sha256')
      .update(JSON.stringify([first, posts]))
      .digest();
    const saved = await saveRows(reader, parts, { key: `import-${key}`, digest })(posts, first);
    return reply.type('application/json; charset=utf-8').send(saved);
  };
}

/** A whole file by a form, for browsers that do not run the module. */
async function importUpload(reader: Reader, parts: Parts): Promise<string> {
  const { visit, frame } = reader;
  const result = await readUpload(reader, parts).catch((error: unknown) => {
    const { destroyed, complete } = visit.request.raw;
    if (complete || !destroyed) throw error;
    throw new AppError('canceled', 'The file did not arrive whole.', { cause: error });
  });
  if (!result) {
    visit.reply.code(422);
    return importPage(frame(), { error: 'Choose a file first.' });
  }
  if (result.problem) visit.reply.code(result.created > 0 ? 207 : 422);
  else if (result.failed > 0) visit.reply.code(207);
  return importPage(frame(), { result, requestId: visit.request.id });
}

async function readUpload(reader: Reader, parts: Parts): Promise<ImportResult | undefined> {
  const { visit } = reader;
  let isChecked = false;
  for await (const part of visit.request.parts({ limits: { fileSize: fileBytesMax } })) {
    if (part.type === 'field' && part.fieldname === csrfFieldName) {
      visit.checkToken(part.value);
      isChecked = true;
    }
    if (part.type !== 'file') continue;
    // The token stands before the file in our form; a form without it is none of ours.
    if (!isChecked) visit.checkToken(undefined);
    if (!part.filename) part.file.resume();
    else return importPart(reader, part, parts);
  }
  return undefined;
}

async function importPart(
  reader: Reader,
  { filename, file }: MultipartFile,
  parts: Parts,
): Promise<ImportResult> {
  const result = await importFile({ name: filename, pieces: file }, saveRows(reader, parts));
  if (!file.truncated) return result;
  return {
    ...result,
    problem: `The file is larger than ${fileMegabytesMax} MB, and the rest of it was left out.`,
  };
}

function saveRows(
  { caller, call }: Reader,
  { posts, readRow }: Parts,
  idempotency?: { key: string; digest: Buffer },
): SaveRows {
  return async (given, first) => {
    const { rows, errors } = checkRows({ posts: given }, readRow);
    const { data } = await posts.createMany({ rows, errors, uid: caller.uid, idempotency }, call);
    return { created: data.created, errors: data.errors.map((line) => rowError(line, first)) };
  };
}

/** `posts[17]: title: must be …` of a piece as the row's number in the file and the problem in words. */
function rowError(line: string, first: number): RowError {
  const [, index = '0', problem = line] = /^posts\[(\d+)\]: (.*)$/s.exec(line) ?? [];
  return { row: first + Number(index), message: problem.replace(/(^|; )(\w+): /g, '$1$2 ') };
}
