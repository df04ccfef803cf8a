import { notFound } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { FastifyRequest } from 'fastify';
import type { Gate } from '../gate/index.ts';
import { type LibraryRules, librariesOf } from '../library.ts';
import type { Identity, Owner } from '../owner.ts';
import type { Tables } from '../tables.ts';
import { checkMayChange, type Document } from './document.ts';
import { findDocument, type Reach } from './store/list.ts';

interface ViewerParts {
  readonly database: Database<Tables>;
  readonly library: LibraryRules;
  readonly gate: Gate;
}

/** An owner, and the documents that they may see. */
export interface Viewer {
  readonly identity: Identity;
  readonly reach: Reach;
}

/** The owner of a request with what they may see. Throws `forbidden` for clients that have no documents. */
export async function viewerOf(
  { gate, library }: Pick<ViewerParts, 'gate' | 'library'>,
  request: FastifyRequest,
): Promise<Viewer> {
  const identity = await gate.identityOf(request);
  return { identity, reach: reachOf(library, identity.owner) };
}

export function reachOf(library: LibraryRules, owner: Owner): Reach {
  return { owner, libraryKeys: librariesOf(library, owner) };
}

/** A document that the caller may delete and read again: their own, or for an administrator anybody's. */
export async function findManaged(
  { database, library }: Pick<ViewerParts, 'database' | 'library'>,
  { identity, reach }: Viewer,
  id: string,
): Promise<Document> {
  const document = await findDocument(database, { reach, hasOthers: identity.isAdmin }, id);
  if (!document) throw notFound('document', id);
  checkMayChange(library, document, identity);
  return document;
}
