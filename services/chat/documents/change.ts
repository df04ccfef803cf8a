import { AppError } from '@octavo/core';
import { invalidValue } from '../errors.ts';
import { everyoneKey, type LibraryRules, libraryFor, type Visibility, visibilityOf } from '../library.ts';
import type { Document } from './document.ts';
import { type IngestParts, reindex } from './ingest.ts';
import { libraryId } from './store/libraries.ts';
import { isWithin } from './store/list.ts';
import { type Changed, updateDocument } from './store/store.ts';
import type { Viewer } from './viewer.ts';

/** Changes of a document; what is undefined stays. */
export interface DocumentChange {
  readonly visibility?: Visibility | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly title?: string | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Changes a document that the viewer may manage. With another visibility or title it is read again, because its words are indexed with both.
 * Throws `forbidden` for a visibility that the viewer may not give, and `conflict` while the document is being read.
 */
export async function changeDocument(
  parts: IngestParts,
  viewer: Viewer,
  document: Document,
  { visibility, tags, title, signal }: DocumentChange,
): Promise<Document> {
  const { database, library: rules } = parts;
  const isMoved = visibility !== undefined && visibility !== visibilityOf(document.libraryKey);
  checkReads(viewer, document, { isMoved, visibility, isOther: tags !== undefined || title !== undefined });
  const key = isMoved ? targetOf(rules, viewer, document, visibility) : document.libraryKey;
  const isRenamed = title !== undefined && title.trim() !== document.title;
  const changed: Changed = {
    ...(isMoved && { library: await libraryId(database, key) }),
    ...(visibility !== undefined && { was_shared: 0 }),
    ...(isRenamed && { given_title: title.trim(), title: title.trim() }),
    ...(tags && { tags: JSON.stringify(tags) }),
  };
  if (Object.keys(changed).length === 0) return document;
  const isIndexed = document.status === 'indexed';
  if (document.status === 'processing' && (isMoved || isRenamed))
    throw new AppError('conflict', 'The document is being read already.');
  const known = { ...document, libraryKey: key, tags: tags ?? document.tags };
  if (isIndexed && (isMoved || isRenamed)) {
    const read = await reindex(parts, document, { changed, ...(signal && { signal }) });
    return { ...known, ...read };
  }
  await updateDocument(database, document, changed);
  return { ...known, title: changed.title ?? document.title };
}

/** An administrator shares what everybody could read before, and what strangers uploaded; what others keep to themselves stays theirs. */
function checkReads(
  { reach }: Viewer,
  document: Document,
  {
    isMoved,
    visibility,
    isOther,
  }: { isMoved: boolean; visibility: Visibility | undefined; isOther: boolean },
): void {
  if (isWithin(reach, document)) return;
  const isSharable = document.wasShared || visibilityOf(document.libraryKey) === 'public';
  if (isMoved && visibility === 'everyone' && isSharable && !isOther) return;
  throw new AppError('forbidden', 'Only its owner may change a private document.');
}

function targetOf(
  rules: LibraryRules,
  { identity }: Viewer,
  document: Document,
  visibility: Visibility,
): string {
  if (document.session !== null)
    throw invalidValue('visibility', 'cannot be changed for a document of a chat');
  const key = libraryFor(rules, identity, visibility);
  if (key !== everyoneKey && document.owner !== identity.owner)
    throw new AppError('forbidden', 'Only its owner may make a document private.');
  return key;
}
