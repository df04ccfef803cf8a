import { AppError } from '@octavo/core';
import { extractionLimits } from '../extraction/index.ts';
import type { LibraryRules } from '../library.ts';
import { everyoneKey } from '../library.ts';
import { type Identity, isStranger, type Owner, publicOwner } from '../owner.ts';
import type { DocumentStatus } from '../tables.ts';

/** Limits on uploads. */
export const limits = {
  fileBytesMax: 25 * 1024 * 1024,
  filesMax: 10,
  requestBytesMax: 60 * 1024 * 1024,
  tagsMax: 20,
  tagLengthMax: 60,
} as const;

/** The limits under the names that clients see. */
export const shownLimits = {
  max_file_bytes: limits.fileBytesMax,
  max_files: limits.filesMax,
  max_request_bytes: limits.requestBytesMax,
  max_characters: extractionLimits.textLengthMax,
  max_pages: extractionLimits.pagesMax,
  max_chunks: extractionLimits.chunksMax,
} as const;

/** A document as its owner sees it. */
export interface Document {
  /** Its number in the database, which clients do not see. */
  readonly id: number;
  readonly publicId: string;
  readonly library: number;
  readonly libraryKey: string;
  readonly owner: Owner;
  readonly session: string | null;
  readonly filename: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
  readonly title: string;
  /** The title that a person gave it; null for its own. */
  readonly givenTitle: string | null;
  /** True if everybody could read it before documents had a visibility, until that is decided again. */
  readonly wasShared: boolean;
  readonly status: DocumentStatus;
  readonly error: string | null;
  readonly pages: number | null;
  readonly chunkCount: number;
  readonly textLength: number;
  readonly tags: readonly string[];
  readonly warnings: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** True if it replaces older ones with the same name when it is published. */
  readonly replaces: boolean;
  /** Its place among all uploads, which stays when it is read again. */
  readonly uploadNumber: number;
  /** The version of the reader of files that made its text; 0 if that was not noted. */
  readonly readerVersion: number;
}

/** The warning that comes from uploading a document. All others come from reading it. */
export const namesakeWarning = 'Another document has the same name.';

/** The owner of documents that come with the product. */
export const ownOwner: Owner = 'octavo';

/**
 * True if a person may change and delete a document that they may see: its owner, and administrators. Without a sign-in, people cannot be
 * told apart for sure, and every document belongs to all.
 */
export function mayChange(rules: LibraryRules, document: Document, { owner, isAdmin }: Identity): boolean {
  if (!rules.hasSignIn || isAdmin) return true;
  // What clients without an identity uploaded before there was a sign-in is not the next one's to delete.
  if (isStranger(owner)) return document.owner === owner && document.libraryKey !== everyoneKey;
  // Without administrators, no other person could remove it.
  if (!rules.hasAdministrators && [publicOwner, ownOwner].includes(document.owner)) return true;
  return document.owner === owner;
}

/** Throws `forbidden` if a document may not be changed. */
export function checkMayChange(rules: LibraryRules, document: Document, identity: Identity): void {
  if (!mayChange(rules, document, identity))
    throw new AppError('forbidden', `${document.filename} was uploaded by another person.`);
}

/** Documents that the same bytes, or the same name, are compared with: those of the same owner in a library. */
export interface Scope {
  readonly library: number;
  /** Undefined without a sign-in, where documents belong to all. */
  readonly owner: Owner | undefined;
}

export function scopeOf(
  { hasSignIn }: LibraryRules,
  { library, owner }: Pick<Document, 'library' | 'owner'>,
): Scope {
  return { library, owner: hasSignIn ? owner : undefined };
}

/** Pages that can be drawn: those of a PDF that has been read. */
export function drawablePages({ mediaType, pages }: Document): number {
  return mediaType === 'application/pdf' ? (pages ?? 0) : 0;
}

/**
 * Ways to handle another document with the same name: keep both with a warning, replace it, refuse the new one, or keep both without a
 * warning for a client that deletes the other.
 */
export const duplicateModes = ['skip', 'replace', 'error', 'keep'] as const;
export type DuplicateMode = (typeof duplicateModes)[number];
