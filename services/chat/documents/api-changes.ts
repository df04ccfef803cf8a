import { AppError, Type } from '@octavo/core';
import { notBlank } from '@octavo/core/text';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import { libraryFor, visibilities } from '../library.ts';
import { routes } from '../routes.ts';
import { type DocumentApiParts, DocumentShown, Key, shown, tags, toTags } from './api-shared.ts';
import { changeDocument } from './change.ts';
import type { Document } from './document.ts';
import { reindex } from './ingest.ts';
import { cleanName } from './names.ts';
import { listLibrary } from './store/list.ts';
import { findManaged, viewerOf } from './viewer.ts';

const filesMax = 10_000;
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
      bodyLimit: 1024 * 1024,
      schema: {
        tags,
        summary: 'Compare a folder with the library',
        body: SyncRequest,
        response: { 200: SyncAnswer },
        description:
          'Compares with your own documents of that `visibility`, and returns the files to upload, to replace and to delete. Nothing is changed.',
      },
      config: { errors: ['validation_failed', 'forbidden'] },
    },
    async (request) => {
      const identity = await parts.gate.identityOf(request);
      const { files, visibility } = request.body;
      const key = libraryFor(parts.library, identity, visibility);
      const owner = parts.library.hasSignIn ? identity.owner : undefined;
      const { add, change, remove, unchanged } = planSync(
        files,
        await listLibrary(parts.database, key, owner),
      );
      return { add: [...add], change: [...change], remove: [...remove], unchanged: [...unchanged] };
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

/** A file of a folder that is to be the same as the library. */
interface FolderFile {
  readonly path: string;
  readonly sha256: string;
}

/** Changes that give the library the files of a folder. */
interface SyncPlan {
  readonly add: readonly string[];
  readonly change: readonly string[];
  readonly remove: readonly { readonly document_id: string; readonly filename: string }[];
  readonly unchanged: readonly string[];
}

/** Compares the files of a folder with documents, by name and by content. */
function planSync(files: readonly FolderFile[], documents: readonly Document[]): SyncPlan {
  const byName = new Map<string, Document[]>();
  for (const document of documents) {
    byName.set(document.filename, [...(byName.get(document.filename) ?? []), document]);
  }
  const kept = new Set<Document>();
  const [add, change, unchanged]: string[][] = [[], [], []];
  for (const { path, sha256 } of files) {
    const namesakes = byName.get(cleanName(path)) ?? [];
    const same = namesakes.find((document) => document.sha256 === sha256.toLowerCase());
    const list = same ? unchanged : namesakes.length > 0 ? change : add;
    list?.push(path);
    for (const document of same ? [same] : namesakes) kept.add(document);
  }
  const remove = documents
    .filter((document) => !kept.has(document))
    .map(({ publicId, filename }) => ({ document_id: publicId, filename }));
  return { add: add ?? [], change: change ?? [], remove, unchanged: unchanged ?? [] };
}
