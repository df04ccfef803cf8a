import { AppError, notFound } from '@octavo/core';
import type { StoredObject } from '@octavo/data/objects';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import { encodingIn, mappingIn, receiveUpload } from '@octavo/web/import-pages';
import {
  aboveNote,
  decoderOf,
  type FileRow,
  formatOf,
  guessMapping,
  ImportProblem,
  isHeaderOf,
  lettersNote,
  lettersOf,
  type Mapping,
  type Table,
  tableOf,
} from '@octavo/web/imports';
import type { PageRoutes } from '@octavo/web/pages';
import { csrfFieldName } from '@octavo/web/pages';
import { goneSignal, sendStream } from '@octavo/web/server';
import { compileValidator } from '@octavo/web/validation';
import type { FastifyReply } from 'fastify';
import type { PageSession, Visitor, Visitors } from '../access/index.ts';
import { CreatePostRequest } from '../posts/index.ts';
import { importPath, link, pageRoutes } from '../routes.ts';
import { noSuchUser, type Usernames } from '../users/index.ts';
import { createPosts, wholeRow } from './bulk.ts';
import { createPostParser, type ImportedFile, importFields, postOf } from './import-fields.ts';
import type { ImportedFiles, ImportRef, ImportResult } from './imported-files.ts';
import type { LargeBodies } from './large-bodies.ts';
import { importFile } from './pages-import.ts';
import {
  fileBytesMax,
  importPage,
  interruptedPage,
  type Preview,
  previewPage,
  resultPage,
} from './pages-views.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly largeBodies: LargeBodies;
  readonly importedFiles: ImportedFiles;
  readonly usernames: Usernames;
}

/** Part of the file that a preview reads. */
const previewBytes = 64 * 1024;

/** A file is uploaded, then previewed with the columns to take, then imported. */
export function addImportPages(routes: PageRoutes<PageSession>, parts: Parts): void {
  const access = parts.visitors('post', 'write');
  routes.get(pageRoutes.importPosts, { access }, async ({ frame }) => importPage(frame()));
  routes.post(
    pageRoutes.importPosts,
    { access, accepts: 'multipart/form-data', bodyBytesMax: fileBytesMax },
    (visitor) => upload(visitor, parts),
  );
  routes.get(pageRoutes.importFile, { access }, (visitor) => show(visitor, parts));
  routes.post(pageRoutes.importFile, { access }, (visitor) => decide(visitor, parts));
  routes.get(pageRoutes.importFailed, { access }, (visitor) => sendFailed(visitor, parts));
}

async function upload(
  visitor: Visitor,
  { largeBodies, importedFiles }: Parts,
): Promise<string | FastifyReply> {
  const { visit, caller, frame } = visitor;
  const { uid } = caller;
  const signal = goneSignal(visit.reply);
  try {
    const { file } = await receiveUpload(visit.request, {
      bytesMax: fileBytesMax,
      // In our form the token comes before the file. A form without it comes from elsewhere.
      onFile: (fields) => visit.checkToken(fields[csrfFieldName]),
      keep: async (chunks, name) => {
        const add = (body: AsyncIterable<Uint8Array>) => importedFiles.add(uid, body, signal);
        return { name, id: await largeBodies.receive(chunks, { uid, signal }, add) };
      },
    });
    if (file)
      return visit.redirect(link(importPath('importFile', file.id), { name: file.name.slice(0, 200) }));
    throw new AppError('invalid_input', 'Choose a file first.');
  } catch (error) {
    const isShown = error instanceof AppError && ['invalid_input', 'too_large'].includes(error.code);
    if (!isShown || error.message === 'The form is malformed.') throw error;
    visit.reply.code(error.code === 'too_large' ? 413 : 422);
    return importPage(frame(), error.message);
  }
}

async function show(visitor: Visitor, { importedFiles, usernames }: Parts): Promise<string> {
  const { visit, frame, call } = visitor;
  const ref = refOf(visitor);
  const result = await importedFiles.result(ref);
  if (result) return resultPage(frame(), { id: ref.id, result });
  const file = await importedFiles.require(ref);
  const plan = await importedFiles.plan(ref);
  if (plan) return interruptedPage(frame(), { id: ref.id, name: plan.name });
  const query = visit.request.query as Readonly<Record<string, string | undefined>>;
  const { name = '' } = query;
  const mapping = mappingIn(importFields, (field) => query[field]);
  const head = await importedFiles.head(file, previewBytes);
  const encoding = encodingIn(query.encoding);
  const preview = previewOf({ name, mapping, encoding }, head, file);
  const rows = await withAuthors(preview.rows, (author) => usernames.uidOf(author, call));
  return previewPage(frame(), { id: ref.id, ...preview, rows });
}

/** Another preview, the import, or neither. */
async function decide(visitor: Visitor, parts: Parts): Promise<string | FastifyReply> {
  const { visit } = visitor;
  const { importedFiles } = parts;
  const ref = refOf(visitor);
  const action = visit.field('do');
  if (action === 'cancel') {
    await importedFiles.remove(ref);
    return visit.redirect(pageRoutes.importPosts);
  }
  const path = importPath('importFile', ref.id);
  const name = visit.field('name').slice(0, 200);
  const fields = visit.fields();
  const mapping = mappingIn(importFields, (field) => fields[field]);
  const encoding = encodingIn(fields.encoding);
  if (action === 'preview') {
    const chosen = importFields.map((field) => [`map-${field.name}`, mapping?.[field.name] ?? ''] as const);
    return visit.redirect(link(path, { name, encoding, ...Object.fromEntries(chosen) }));
  }
  if (await importedFiles.result(ref)) return visit.redirect(path);
  const file = await importedFiles.require(ref);
  const plan = await importedFiles.keepPlan(ref, { name, mapping, encoding });
  return runImport(visitor, parts, { ref, file, plan });
}

interface Begun {
  readonly ref: ImportRef;
  readonly file: StoredObject;
  readonly plan: ImportedFile;
}

/** The browser module gets a line of JSON for each part that is saved; others wait for the page with the result. */
async function runImport(visitor: Visitor, parts: Parts, begun: Begun): Promise<string | FastifyReply> {
  const { visit, frame } = visitor;
  const { reply, request } = visit;
  const { id } = begun.ref;
  const signal = goneSignal(reply);
  const states = statesOf(visitor, parts, { begun, signal });
  if (request.headers.accept?.includes('application/x-ndjson')) {
    reply.type('application/x-ndjson; charset=utf-8');
    return sendStream(reply, asLines(states));
  }
  let result: ImportResult | undefined;
  for await (const state of states) result = state;
  if (!result?.canContinue) return visit.redirect(importPath('importFile', id));
  reply.code(503);
  return resultPage(frame(), { id, result, requestId: request.id });
}

async function* asLines(states: AsyncIterable<ImportResult>): AsyncGenerator<string> {
  for await (const { share, created, failed, problem, canContinue } of states)
    yield `${JSON.stringify({ share, created, failed, problem, canContinue })}\n`;
}

async function* statesOf(
  { caller: { uid }, call }: Visitor,
  { posts, largeBodies, importedFiles, usernames }: Parts,
  { begun: { ref, file, plan }, signal }: { begun: Begun; signal: AbortSignal },
): AsyncGenerator<ImportResult> {
  const states = importFile({
    file: plan,
    sizeBytes: file.sizeBytes,
    body: importedFiles.read(file),
    parsing: largeBodies.parsing,
    signal,
    save: async (rows, { key, digest }) => {
      const idempotency = { key: `import-${ref.id}-${key}`, digest };
      await createPosts(posts, { rows, errors: [], uid, idempotency }, { ...call, signal });
    },
    uidOf: (author) => usernames.uidOf(author, { ...call, signal }),
    keepFailed: (csv) => importedFiles.keepFailed(ref, csv),
  });
  using _ = await largeBodies.enterImport(uid, signal);
  let last: ImportResult | undefined;
  for await (const state of states) {
    last = state;
    // The last one is sent when it is kept.
    if (state.share < 1) yield state;
  }
  if (!last) return;
  if (!last.canContinue) {
    await importedFiles.keepResult(ref, last);
    await importedFiles.remove(ref);
  }
  yield last;
}

async function sendFailed(visitor: Visitor, { importedFiles }: Parts): Promise<FastifyReply> {
  const ref = refOf(visitor);
  const csv = await importedFiles.failed(ref);
  if (csv === undefined) throw notFound('import', ref.id);
  return visitor.visit.reply
    .type('text/csv; charset=utf-8; header=present')
    .header('content-disposition', 'attachment; filename="rows-not-saved.csv"')
    .send(csv);
}

function refOf({ visit, caller }: Visitor): ImportRef {
  return { uid: caller.uid, id: (visit.request.params as { importId: string }).importId };
}

/** The first rows of a file as they would be imported, and the problems that are in sight. */
function previewOf(
  { name, mapping, encoding }: ImportedFile,
  head: Uint8Array,
  { sizeBytes }: StoredObject,
): Omit<Preview, 'id'> {
  const isWhole = head.length === sizeBytes;
  const decoder = decoderOf(head, encoding);
  const rows: FileRow[] = [];
  let table: Table = { header: [], above: 0 };
  let problem: string | undefined;
  let chosen: Mapping = {};
  try {
    const text = decoder.decode(head, { stream: !isWhole });
    if (formatOf(name) === 'csv') table = tableOf(text, (cells) => isHeaderOf(importFields, mapping, cells));
    chosen = mapping ?? guessMapping(importFields, table.header);
    const parser = createPostParser({ name, mapping: chosen });
    rows.push(...parser.push(text));
    if (isWhole) rows.push(...parser.end());
  } catch (error) {
    if (error instanceof ImportProblem) problem = error.message;
    else if ((error as { code?: string }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      problem = 'The file begins as UTF-8 and goes on as something else.';
    else throw error;
  }
  const parsePost = compileValidator(CreatePostRequest, wholeRow);
  const checked = rows.map((row) => {
    const { post, author } = postOf(name, row);
    const { fields } = row.problem === undefined ? parsePost(post) : { fields: { [wholeRow]: row.problem } };
    return { number: row.number, post, author, fields };
  });
  const { header, above } = table;
  const letters = lettersOf(head);
  const lettersToTell = encoding === undefined ? lettersNote(letters) : undefined;
  const notes = [lettersToTell, aboveNote(above)].flatMap((note) => note ?? []);
  const encodings = { chosen: encoding, told: letters.encoding };
  return { name, header, mapping: chosen, encodings, rows: checked, isWhole, problem, notes };
}

/** The rows with a problem for each unknown author. */
async function withAuthors(
  rows: Preview['rows'],
  uidOf: (author: string) => Promise<number | undefined>,
): Promise<Preview['rows']> {
  const unknown = new Set<string>();
  for (const author of new Set(rows.flatMap((row) => row.author ?? [])))
    if ((await uidOf(author)) === undefined) unknown.add(author);
  return rows.map((row) =>
    row.author !== undefined && unknown.has(row.author)
      ? { ...row, fields: { ...row.fields, author: noSuchUser } }
      : row,
  );
}
