import { AppError, Type } from '@octavo/core';
import { notBlank } from '@octavo/core/text';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import { libraryFor, visibilities } from '../library.ts';
import { routes } from '../routes.ts';
import { type DocumentApiParts, DocumentShown, Key, shown, tags, toTags } from './api-shared.ts';
import { changeDocument } from './change.ts';
import { reindex } from './ingest.ts';
import { listLibrary } from './store/list.ts';
import { planSync } from './sync.ts';
import { findManaged, viewerOf } from './viewer.ts';

const filesMax = 10_000;
const syncBytesMax = 4 * 1024 * 1024;
const titleMax = 200;
const SyncRequest = Type.Object({
  files: Type.Array(
    Type.Object({
      path: Type.String({ minLength: 1, maxLength: 4_096 }),
      sha256: Type.String({ pattern: '^[0-9a-fA-F]{64}$' }),
    }),
    { maxItems: filesMax },
  ),
  visibility: Type.Optional(Type.Enum([...visibilities])),
  tag: Type.Optional(
    Type.String({ description: 'Changes and removes documents with this tag only', format: 'text' }),
  ),
});
const ChangeRequest = Type.Object(
  {
    visibility: Type.Optional(Type.Enum([...visibilities])),
    tags: Type.Optional(
      Type.Array(Type.String({ format: 'text' }), { description: 'In place of those that it has' }),
    ),
    title: Type.Optional(Type.String({ minLength: 1, maxLength: titleMax, format: 'text', ...notBlank })),
  },
  { title: 'DocumentChange' },
);
const paths = Type.Array(Type.String());
const SyncAnswer = Type.Object({
  add: paths,
  change: paths,
  unchanged: paths,
  remove: Type.Array(Type.Object({ document_id: Type.String(), filename: Type.String() })),
});

/** Adds reading a document again, and comparing a folder with the library. */
export function addChanges(app: HttpApp, parts: DocumentApiParts): void {
  app.post(
    routes.documentReindex,
    {
      access: parts.gate.access('upload'),
      schema: {
        tags,
        summary: 'Read a document again',
        params: Key,
        response: { 200: DocumentShown },
        description:
          'Reads the file again, as a newer version of this service may find more in it. The old version is found until that is done.',
      },
      config: { errors: ['forbidden', 'not_found', 'conflict', 'unprocessable'] },
    },
    async (request, reply) => {
      const viewer = await viewerOf(parts, request);
      const document = await findManaged(parts, viewer, request.params.id);
      return shown(await reindex(parts, document, { signal: whenGone(reply) }), viewer);
    },
  );
  addChange(app, parts);
  app.post(
    routes.documentSync,
    {
      access: parts.gate.access('read'),
      bodyLimit: syncBytesMax,
      schema: {
        tags,
        summary: 'Compare a folder with the library',
        body: SyncRequest,
        response: { 200: SyncAnswer },
        description:
          'Compares with your own documents of that `visibility`, and returns the files to upload, to replace and to delete. Nothing is changed. Delete first, as a file that was renamed is in both lists, and the same bytes are not stored twice.',
      },
      config: {
        errors: ['validation_failed', 'forbidden'],
        largeBody: { depth: 16, values: 4 * filesMax },
      },
    },
    async (request) => {
      const identity = await parts.gate.identityOf(request);
      const { files, visibility, tag } = request.body;
      const key = libraryFor(parts.library, identity, visibility);
      const owner = parts.library.hasSignIn ? identity.owner : undefined;
      return planSync(files, await listLibrary(parts.database, key, owner), tag);
    },
  );
}

function addChange(app: HttpApp, parts: DocumentApiParts): void {
  app.patch(
    routes.document,
    {
      access: parts.gate.access('upload'),
      schema: {
        tags,
        summary: 'Change who may read a document, its tags or its title',
        params: Key,
        body: ChangeRequest,
        response: { 200: DocumentShown },
        description:
          'Takes `visibility`, `tags` and `title`, each if it is to change. With another visibility or title the document is read again, and found as it was until that is done. Answers that were given stay as they are.',
      },
      config: { errors: ['validation_failed', 'forbidden', 'not_found', 'conflict', 'unprocessable'] },
    },
    async (request, reply) => {
      const viewer = await viewerOf(parts, request);
      const document = await findManaged(parts, viewer, request.params.id);
      const wanted = { ...request.body, tags: request.body.tags && toTags(request.body.tags) };
      return shown(
        await changeDocument(parts, viewer, document, { ...wanted, signal: whenGone(reply) }),
        viewer,
      );
    },
  );
}

/** Aborts when the client goes away. */
export function whenGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort(new AppError('canceled', 'The client went away.')));
  return controller.signal;
}
