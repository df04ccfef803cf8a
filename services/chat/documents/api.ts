import { createHash } from 'node:crypto';
import { notFound, productVersion, Type } from '@octavo/core';
import type { Span } from '@octavo/documents';
import { NotModified } from '@octavo/web/rest';
import type { HttpApp } from '@octavo/web/server';
import { matchesAny, sendStream } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import { invalidValue } from '../errors.ts';
import { extractionLimits } from '../extraction/index.ts';
import { routes } from '../routes.ts';
import { addChanges, whenGone } from './api-changes.ts';
import { type DocumentApiParts, DocumentShown, findOr404, Key, nullable, shown, tags } from './api-shared.ts';
import { addUpload } from './api-upload.ts';
import { type Document, drawablePages, limits } from './document.ts';
import { deleteDocument } from './ingest.ts';
import { listChunks, listDocuments, passageOnPage } from './store/list.ts';
import { contentOf, textOf } from './store/store.ts';
import { findManaged, viewerOf } from './viewer.ts';

const missing = { errors: ['not_found'] } as const;

/** Adds the endpoints of documents. */
export function addDocumentApi(app: HttpApp, parts: DocumentApiParts): void {
  addUpload(app, parts);
  addLists(app, parts);
  addParts(app, parts);
  addPictures(app, parts);
  addChanges(app, parts);
}

const Listed = Type.Object({
  documents: Type.Array(DocumentShown),
  total: Type.Integer(),
  next_cursor: nullable(Type.String()),
});

function addLists(app: HttpApp, parts: DocumentApiParts): void {
  const { database } = parts;
  app.get(
    routes.documents,
    {
      access: parts.gate.access('read'),
      schema: {
        tags,
        summary: 'Documents, newest first',
        description:
          'Returns a page of the documents that you may read, with their state and `mine` for your own, filtered by tag or by words of the title, and a `cursor` for the next page. Administrators also get the private documents of others, with their owner, name and size only.',
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
      const viewer = await viewerOf(parts, request);
      const listing = { reach: viewer.reach, hasOthers: viewer.identity.isAdmin };
      const { documents, total } = await listDocuments(database, listing, { limit, ...filter });
      const page = documents.slice(0, limit);
      const next = documents.length > limit ? (page.at(-1)?.publicId ?? null) : null;
      return { documents: page.map((each) => shown(each, viewer)), total, next_cursor: next };
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
    async (request) =>
      shown(await findOr404(parts, request, request.params.id), await viewerOf(parts, request)),
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
      const viewer = await viewerOf(parts, request);
      await deleteDocument(parts, await findManaged(parts, viewer, request.params.id));
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
      return sendStream(reply, contentOf(database, document));
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
  const bytes = async () => Buffer.concat(await Array.fromAsync(contentOf(parts.database, document)));
  const png = await parts.parser.draw({ page, passage: onPage }, bytes, whenGone(reply));
  return reply.headers(headers).type('image/png').send(png);
}

/** Changes when the document is read again, as offsets count in its text. */
function pictureTag({ document: { sha256, updatedAtMs }, page, passage }: PictureAsked): string {
  const named = JSON.stringify([productVersion(), sha256, updatedAtMs, page, passage]);
  return `"${createHash('sha256').update(named).digest('base64url')}"`;
}
