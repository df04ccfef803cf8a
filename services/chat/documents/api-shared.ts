import { notFound, type TSchema, Type } from '@octavo/core';
import type { FastifyRequest } from 'fastify';
import { invalidValue } from '../errors.ts';
import type { Gate } from '../gate/index.ts';
import { visibilities, visibilityOf } from '../library.ts';
import { type Document, limits } from './document.ts';
import type { IngestParts } from './ingest.ts';
import { findDocument, isWithin } from './store/list.ts';
import { type Viewer, viewerOf } from './viewer.ts';

export interface DocumentApiParts extends IngestParts {
  readonly gate: Gate;
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
    reader_version: Type.Integer({
      description:
        'The version of the reader of files that made its text; those of earlier ones are read again',
    }),
    session_id: nullable(Type.String()),
    visibility: Type.Enum([...visibilities], {
      description: 'Its readers: the owner, everyone, or those who are not signed in',
    }),
    mine: Type.Boolean({ description: 'True if the caller uploaded it' }),
    owner: nullable(Type.String({ description: 'Shown to the owner and to administrators' })),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Document' },
);
export const Key = Type.Object({ id: Type.String({ maxLength: 100, format: 'text' }) });

/** Tags without those that are empty or there twice. Throws `validation_failed`. */
export function toTags(given: readonly string[]): string[] {
  const named = [...new Set(given.map((tag) => tag.trim()).filter((tag) => tag !== ''))];
  if (named.length > limits.tagsMax || named.some((tag) => tag.length > limits.tagLengthMax))
    throw invalidValue(
      'tags',
      `must be at most ${limits.tagsMax}, each of at most ${limits.tagLengthMax} characters`,
    );
  return named;
}

export async function findOr404(
  parts: DocumentApiParts,
  request: FastifyRequest,
  id: string,
): Promise<Document> {
  const { reach } = await viewerOf(parts, request);
  const document = await findDocument(parts.database, { reach }, id);
  if (!document) throw notFound('document', id);
  return document;
}

/** A document as its reader sees it. Of what others keep to themselves, an administrator sees whose it is, its name and its size. */
export function shown(document: Document, { identity, reach }: Viewer) {
  const { publicId, filename, size, status, owner, libraryKey, mediaType } = document;
  const mine = owner === identity.owner;
  const known = {
    document_id: publicId,
    filename,
    media_type: mediaType,
    size,
    status: status === 'deleting' ? 'processing' : status,
    visibility: visibilityOf(libraryKey),
    mine,
    owner: mine || identity.isAdmin ? owner : null,
    created_at: new Date(document.createdAtMs).toISOString(),
  };
  if (!isWithin(reach, document)) {
    const none = { error: null, pages: null, session_id: null, chunks: 0, tags: [], warnings: [] };
    return { ...known, ...none, title: filename, sha256: '', reader_version: 0 };
  }
  const { title, sha256, error, pages, chunkCount, session } = document;
  return {
    ...known,
    title,
    sha256,
    error,
    pages,
    chunks: chunkCount,
    tags: [...document.tags],
    warnings: [...document.warnings],
    reader_version: document.readerVersion,
    session_id: session,
  };
}
