import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '#kit/base/errors.ts';
import { Type } from '#kit/base/schema.ts';
import { productVersion } from '#kit/base/version.ts';
import type { HttpApp } from '#kit/http/access.ts';
import { matchesAny } from '#kit/http/responses/entity-tags.ts';
import { sendStream } from '#kit/http/responses/stream.ts';
import { NotModified } from '#kit/rest/conditional.ts';
import { errorTable, invalidValue } from '../errors.ts';
import { extractionLimits } from '../extraction/index.ts';
import { libraryKeyOf } from '../library.ts';
import { routes } from '../routes.ts';
import type { Span } from '../sentences.ts';
import { findSession } from '../sessions/index.ts';
import { addChanges, whenGone } from './api-changes.ts';
import {
  type DocumentApiParts,
  DocumentShown,
  findOr404,
  findOwn,
  Key,
  nullable,
  reachOf,
  shown,
  tags,
} from './api-shared.ts';
import {
  type Document,
  type DuplicateMode,
  drawablePages,
  duplicateModes,
  limits,
  shownLimits,
} from './document.ts';
import { deleteDocument, type UploadedFile, type UploadOptions } from './ingest.ts';
import { acceptedEndings } from './names.ts';
import { contentOf, textOf } from './store.ts';
import { listChunks, listDocuments, passageOnPage } from './store-list.ts';
import { formLimits, receiveFiles, type UploadFields, uploadEach } from './upload-form.ts';

const Failure = Type.Object({ filename: Type.String(), code: Type.String(), message: Type.String() });
const UploadAnswer = Type.Object(
  { success: Type.Boolean(), documents: Type.Array(DocumentShown), errors: Type.Array(Failure) },
  { title: 'UploadAnswer' },
);
const missing = { errors: ['not_found'] } as const;

/** Adds the endpoints of documents. */
export function addDocumentApi(app: HttpApp, parts: DocumentApiParts): void {
  addUpload(app, parts);
  addLists(app, parts);
  addParts(app, parts);
  addPictures(app, parts);
  addChanges(app, parts);
}

function addUpload(app: HttpApp, parts: DocumentApiParts): void {
  app.get(
    routes.upload,
    {
      access: parts.gate.access('read'),
      schema: {
        tags,
        summary: 'Limits of uploads',
        description:
          'Returns the largest file and request, the number of files, and the media types that can be read.',
        response: { 200: Type.Unknown({ title: 'UploadLimits' }) },
      },
    },
    async () => ({ ...shownLimits, extensions: acceptedEndings }),
  );
  app.register(async (scope) => {
    const { default: multipart } = await import('@fastify/multipart');
    await scope.register(multipart, { limits: formLimits });
    scope.post(
      routes.upload,
      {
        access: parts.gate.access('upload'),
        bodyLimit: limits.requestBytesMax,
        validatorCompiler: () => () => true,
        schema: {
          tags,
          summary: 'Upload documents',
          description:
            'Takes one or more files as a multipart form and returns an entry for each. A file that is there already is skipped, replaced or refused, by `on_duplicate`. Reading goes on after the response, unless `wait` is true.',
          consumes: ['multipart/form-data'],
          body: Type.Object({
            file: Type.String({ contentMediaType: 'application/octet-stream' }),
            tags: Type.Optional(Type.String({ description: 'Separated by commas, or repeated' })),
            session_id: Type.Optional(Type.String({ description: 'Found only by questions in that chat' })),
            on_duplicate: Type.Optional(Type.Enum(duplicateModes)),
            wait: Type.Optional(Type.Boolean({ description: 'Waits until the documents are indexed' })),
          }),
          response: { 200: UploadAnswer, 201: UploadAnswer, 202: UploadAnswer, 207: UploadAnswer },
        } as object,
        config: {
          largeBody: 'handler',
          errors: [
            'validation_failed',
            'not_found',
            'conflict',
            'too_large',
            'unsupported_media_type',
            'unprocessable',
          ],
        },
      },
      async (request, reply) => {
        const { files, fields } = await receiveFiles(request);
        const result = await uploadAll(parts, files, {
          ...(await optionsOf(request, fields, parts)),
          signal: whenGone(reply),
          waits: waitOf(fields),
        });
        return reply.code(result.status).send(result.body);
      },
    );
  });
}

async function optionsOf(request: FastifyRequest, fields: UploadFields, parts: DocumentApiParts) {
  const owner = parts.gate.ownerOf(request);
  const onDuplicate = fields.on_duplicate ?? 'skip';
  if (!duplicateModes.includes(onDuplicate as DuplicateMode))
    throw invalidValue('on_duplicate', `must be one of ${duplicateModes.join(', ')}`, duplicateModes);
  const given = (fields.tags ?? '').split(',').map((tag) => tag.trim());
  const named = [...new Set(given.filter((tag) => tag !== ''))];
  if (named.length > limits.tagsMax || named.some((tag) => tag.length > limits.tagLengthMax))
    throw invalidValue(
      'tags',
      `must be at most ${limits.tagsMax}, each of at most ${limits.tagLengthMax} characters`,
    );
  const session = fields.session_id || null;
  if (session !== null && !(await findSession(parts.database, { owner, nowMs: parts.clock.now() }, session)))
    throw notFound('session', session);
  return {
    owner,
    session,
    tags: named,
    onDuplicate: onDuplicate as DuplicateMode,
    hasSignIn: parts.gate.hasSignIn,
    libraryKey: libraryKeyOf(parts.libraryMode, owner, session ?? undefined),
  };
}

function waitOf({ wait = 'true' }: UploadFields): boolean {
  if (wait !== 'true' && wait !== 'false') throw invalidValue('wait', 'must be true or false');
  return wait === 'true';
}

async function uploadAll(parts: DocumentApiParts, files: readonly UploadedFile[], options: UploadOptions) {
  const { uploads, failures } = await uploadEach(parts, files, options);
  const [first] = failures;
  if (first && uploads.length === 0) throw first.error;
  const documents = uploads.map(({ document, isDuplicate }) => ({
    ...shown(document),
    ...(isDuplicate && { status: 'duplicate' as const }),
  }));
  const errors = failures.map(({ filename, error: { code, message } }) => ({
    filename,
    code: errorTable[code].code,
    message,
  }));
  const isOld = uploads.every(({ isDuplicate }) => isDuplicate);
  const status = errors.length > 0 ? 207 : isOld ? 200 : options.waits ? 201 : 202;
  return { status, body: { success: errors.length === 0, documents, errors } } as const;
}

const Listed = Type.Object({
  documents: Type.Array(DocumentShown),
  total: Type.Integer(),
  next_cursor: nullable(Type.String()),
});

function addLists(app: HttpApp, parts: DocumentApiParts): void {
  const { database } = parts;
  const find = async (request: FastifyRequest<{ Params: { id: string } }>): Promise<Document> =>
    findOr404(parts, request, request.params.id);
  app.get(
    routes.documents,
    {
      access: parts.gate.access('read'),
      schema: {
        tags,
        summary: 'Documents, newest first',
        description:
          'Returns a page of documents with their state, filtered by tag or by words of the title, and a `cursor` for the next page.',
        response: { 200: Listed },
        querystring: Type.Object({
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
          cursor: Type.Optional(Type.String({ maxLength: 100, format: 'text' })),
          tag: Type.Optional(Type.String({ maxLength: limits.tagLengthMax, format: 'text' })),
          q: Type.Optional(Type.String({ maxLength: 200, format: 'text' })),
        }),
      },
    },
    async (request) => {
      const { limit = 20, ...filter } = request.query;
      const { documents, total } = await listDocuments(database, reachOf(parts, request), {
        limit,
        ...filter,
      });
      const page = documents.slice(0, limit);
      const next = documents.length > limit ? (page.at(-1)?.publicId ?? null) : null;
      return { documents: page.map(shown), total, next_cursor: next };
    },
  );
  app.get(
    routes.document,
    {
      access: parts.gate.access('read'),
      schema: {
        tags,
        summary: 'A document',
        description: 'Returns its title, size, tags and state, and what went wrong if it could not be read.',
        params: Key,
        response: { 200: DocumentShown },
      },
      config: missing,
    },
    async (request) => shown(await find(request)),
  );
  app.delete(
    routes.document,
    {
      access: parts.gate.access('upload'),
      schema: {
        tags,
        summary: 'Delete a document',
        description:
          'Deletes the file with its text, its chunks and its place in the index. Answers no longer quote it.',
        params: Key,
        response: { 204: Type.Null() },
      },
      config: { errors: ['forbidden', 'not_found'] },
    },
    async (request, reply) => {
      await deleteDocument(parts, await findOwn(parts, request, request.params.id));
      return reply.code(204).send(null);
    },
  );
}

/** Adds the parts of a document: its bytes, its text, its chunks. */
function addParts(app: HttpApp, parts: DocumentApiParts): void {
  const { database } = parts;
  const Bytes = Type.String({ contentMediaType: 'application/octet-stream' });
  app.get(
    routes.documentContent,
    {
      access: parts.gate.access('read'),
      schema: {
        tags,
        summary: 'Original file of a document',
        description: 'Returns the bytes of the file as a download, under its own name.',
        params: Key,
        response: { 200: { description: 'The file', content: { '*/*': { schema: Bytes } } } },
      },
      config: missing,
    },
    async (request, reply) => {
      const document = await findOr404(parts, request, request.params.id);
      reply
        .header('content-type', document.mediaType)
        .header('content-length', String(document.size))
        .header(
          'content-disposition',
          `attachment; filename*=UTF-8''${encodeURIComponent(document.filename)}`,
        )
        .header('content-security-policy', "sandbox; default-src 'none'");
      return sendStream(reply, contentOf(database, document.id));
    },
  );
  app.get(
    routes.documentText,
    {
      access: parts.gate.access('read'),
      schema: {
        tags,
        summary: 'Plain text of a document',
        description: 'Returns the text that was read from the file. The offsets of citations count in it.',
        params: Key,
        response: { 200: Type.String() },
      },
      config: missing,
    },
    async (request, reply) => {
      const { id } = await findOr404(parts, request, request.params.id);
      reply.header('content-type', 'text/plain; charset=utf-8');
      return reply.serializer((text: unknown) => String(text)).send(await textOf(database, id));
    },
  );
  const Chunks = Type.Array(Type.Unknown());
  app.get(
    routes.documentChunks,
    {
      access: parts.gate.access('read'),
      schema: {
        tags,
        summary: 'Its chunks',
        description:
          'Returns the pieces of the text that are searched, in their order, with their offsets and headings.',
        params: Key,
        response: { 200: Chunks },
      },
      config: missing,
    },
    async (request) => {
      const { id } = await findOr404(parts, request, request.params.id);
      const chunks = await listChunks(database, id, { limit: extractionLimits.chunksMax, offset: 0 });
      return chunks.map(({ public_id, place, section, page, start_offset, end_offset, text }) => ({
        chunk_id: public_id,
        index: place,
        section,
        page,
        text,
        start: start_offset,
        end: end_offset,
      }));
    },
  );
}

const Picture = Type.String({ contentMediaType: 'image/png' });

function addPictures(app: HttpApp, parts: DocumentApiParts): void {
  const offset = Type.Optional(
    Type.Integer({ minimum: 0, description: 'Offset in the text of the document, in UTF-16 code units' }),
  );
  app.get(
    routes.documentPicture,
    {
      access: parts.gate.access('read'),
      schema: {
        tags,
        summary: 'Picture of a page',
        description:
          'Returns a page of a PDF as a picture, with the passage from `start` to `end` marked if it is on that page. Other documents, and those that have not been read, have no pages.',
        params: Type.Object({ ...Key.properties, page: Type.Integer({ minimum: 1 }) }),
        querystring: Type.Object({ start: offset, end: offset }),
        response: {
          200: { description: 'The page', content: { 'image/png': { schema: Picture } } },
          304: NotModified,
        },
      },
      config: { errors: ['not_found', 'unprocessable', 'unavailable'] },
    },
    async (request, reply) => {
      const { id, page } = request.params;
      const { start, end } = request.query;
      if ((start === undefined) !== (end === undefined) || (start ?? 0) > (end ?? 0))
        throw invalidValue('end', 'must come with start, and not be before it');
      const document = await findOr404(parts, request, id);
      if (page > drawablePages(document)) throw notFound('page', String(page));
      const passage = start === undefined || end === undefined ? undefined : { start, end };
      return sendPicture(parts, reply, { document, page, passage });
    },
  );
}

interface PictureAsked {
  readonly document: Document;
  readonly page: number;
  readonly passage: Span | undefined;
}

async function sendPicture(
  parts: DocumentApiParts,
  reply: FastifyReply,
  asked: PictureAsked,
): Promise<FastifyReply> {
  const { document, page, passage } = asked;
  const tag = pictureTag(asked);
  const headers = { etag: tag, 'cache-control': 'private, no-cache' };
  if (matchesAny(reply.request.headers['if-none-match'] ?? '', tag))
    return reply.code(304).headers(headers).send();
  const onPage = passage && (await passageOnPage(parts.database, document, { page, passage }));
  const bytes = async () => Buffer.concat(await Array.fromAsync(contentOf(parts.database, document.id)));
  const png = await parts.parser.draw({ page, passage: onPage }, bytes, whenGone(reply));
  return reply.headers(headers).type('image/png').send(png);
}

/** Changes when the document is read again, as offsets count in its text. */
function pictureTag({ document: { sha256, updatedAtMs }, page, passage }: PictureAsked): string {
  const named = JSON.stringify([productVersion(), sha256, updatedAtMs, page, passage]);
  return `"${createHash('sha256').update(named).digest('base64url')}"`;
}
