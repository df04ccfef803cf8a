import type { FastifyReply } from 'fastify';
import { AppError } from '#kit/base/errors.ts';
import { Type } from '#kit/base/schema.ts';
import type { HttpApp } from '#kit/http/access.ts';
import { libraryKeyOf } from '../library.ts';
import { routes } from '../routes.ts';
import { type DocumentApiParts, DocumentShown, findOwn, Key, shown, tags } from './api-shared.ts';
import type { Document } from './document.ts';
import { reindex } from './ingest.ts';
import { cleanName } from './names.ts';
import { listLibrary } from './store-list.ts';

const filesMax = 10_000;
const SyncRequest = Type.Object({
  files: Type.Array(
    Type.Object({
      path: Type.String({ minLength: 1, maxLength: 4_096 }),
      sha256: Type.String({ pattern: '^[0-9a-fA-F]{64}$' }),
    }),
    { maxItems: filesMax },
  ),
});
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
        description: 'The old version is found until then.',
      },
      config: { errors: ['forbidden', 'not_found', 'conflict', 'unprocessable'] },
    },
    async (request, reply) => {
      const document = await findOwn(parts, request, request.params.id);
      return shown(await reindex(parts, document, whenGone(reply)));
    },
  );
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
        description: 'Returns the files to upload, to replace and to delete. Nothing is changed.',
      },
      config: { errors: ['validation_failed'] },
    },
    async (request) => {
      const key = libraryKeyOf(parts.libraryMode, parts.gate.ownerOf(request));
      const { add, change, remove, unchanged } = planSync(
        request.body.files,
        await listLibrary(parts.database, key),
      );
      return { add: [...add], change: [...change], remove: [...remove], unchanged: [...unchanged] };
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
