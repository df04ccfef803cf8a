import type { FastifyRequest } from 'fastify';
import { notFound } from '#kit/base/errors.ts';
import { type TSchema, Type } from '#kit/base/schema.ts';
import type { Gate } from '../gate/index.ts';
import { type LibraryMode, libraryKeyOf } from '../library.ts';
import { checkMayChange, type Document } from './document.ts';
import type { IngestParts } from './ingest.ts';
import { findDocument } from './store-list.ts';

export interface DocumentApiParts extends IngestParts {
  readonly gate: Gate;
  readonly libraryMode: LibraryMode;
}

export const tags = ['Documents'];
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const DocumentShown = Type.Object(
  {
    document_id: Type.String(),
    filename: Type.String(),
    title: Type.String(),
    media_type: Type.String(),
    size: Type.Integer(),
    sha256: Type.String(),
    status: Type.Enum(['indexed', 'processing', 'duplicate', 'failed']),
    error: nullable(Type.String()),
    chunks: Type.Integer(),
    pages: nullable(Type.Integer()),
    tags: Type.Array(Type.String()),
    warnings: Type.Array(Type.String()),
    session_id: nullable(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Document' },
);
export const Key = Type.Object({ id: Type.String({ maxLength: 100, format: 'text' }) });

export async function findOr404(
  parts: DocumentApiParts,
  request: FastifyRequest,
  id: string,
): Promise<Document> {
  const document = await findDocument(parts.database, reachOf(parts, request), id);
  if (!document) throw notFound('document', id);
  return document;
}

/** A document that the caller may change. */
export async function findOwn(
  parts: DocumentApiParts,
  request: FastifyRequest,
  id: string,
): Promise<Document> {
  const document = await findOr404(parts, request, id);
  checkMayChange(document, parts.gate.ownerOf(request), parts.gate.hasSignIn);
  return document;
}

export function reachOf({ gate, libraryMode }: DocumentApiParts, request: FastifyRequest) {
  const owner = gate.ownerOf(request);
  return { owner, libraryKey: libraryKeyOf(libraryMode, owner) };
}

export function shown(document: Document) {
  const { publicId, filename, title, mediaType, size, sha256, status, error, pages } = document;
  return {
    document_id: publicId,
    filename,
    title,
    media_type: mediaType,
    size,
    sha256,
    error,
    pages,
    status: status === 'deleting' ? 'processing' : status,
    chunks: document.chunkCount,
    tags: [...document.tags],
    warnings: [...document.warnings],
    session_id: document.session,
    created_at: new Date(document.createdAtMs).toISOString(),
  };
}
