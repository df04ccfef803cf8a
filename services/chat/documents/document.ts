import { AppError } from '#kit/base/errors.ts';
import { extractionLimits } from '../extraction/index.ts';
import { type Owner, publicOwner } from '../owner.ts';
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
  readonly owner: Owner;
  readonly session: string | null;
  readonly filename: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
  readonly title: string;
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
}

/**
 * Throws `forbidden` if a document was uploaded by somebody else, even where it serves everybody's questions. Without sign-in nobody can be
 * told apart for sure, and what was uploaded then belongs to all.
 */
export function checkMayChange(document: Document, owner: Owner, hasSignIn: boolean): void {
  if (hasSignIn && document.owner !== owner && document.owner !== publicOwner)
    throw new AppError('forbidden', `${document.filename} was uploaded by somebody else.`);
}

/** Pages that can be drawn: those of a PDF that has been read. */
export function drawablePages({ mediaType, pages }: Document): number {
  return mediaType === 'application/pdf' ? (pages ?? 0) : 0;
}

/** Ways to handle another document with the same name: keep both, replace it, or refuse the new one. */
export const duplicateModes = ['skip', 'replace', 'error'] as const;
export type DuplicateMode = (typeof duplicateModes)[number];
