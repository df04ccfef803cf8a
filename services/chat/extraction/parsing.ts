import type { ErrorCode } from '@octavo/core';
import type { Dialect } from '@octavo/data';
import type { Span } from '@octavo/documents';
import type { IndexedChunk } from '../indexing.ts';
import type { Chunk } from './chunking.ts';

/** Request to the process that reads documents. It responds with {@link ParseReply}s, each after a `next`. */
export interface ParseRequest {
  readonly bytes: Uint8Array;
  readonly filename: string;
  readonly mediaType: string;
  readonly library: number;
  /** Title that a person gave to the document. */
  readonly title?: string | undefined;
  readonly dialect: Dialect;
  /** True for the second try at a file that took too much time or memory. */
  readonly usesFallback?: boolean;
}

/** Request for the picture of a page of a PDF. The reply is a {@link DrawnPage}. */
export interface DrawRequest {
  readonly bytes: Uint8Array;
  /** From 1. */
  readonly page: number;
  /** Passage to mark. */
  readonly passage: PagePassage | undefined;
}

/** A passage of a page: its offsets in the stored text of the page. */
export interface PagePassage extends Span {
  readonly text: string;
}

/** A request on its way to the process. Its bytes follow by standard input, as messages would copy them several times. */
export type ParseCommand = (Omit<ParseRequest, 'bytes'> | Omit<DrawRequest, 'bytes'>) & {
  readonly bytesLength: number;
};

export interface ParsedText {
  readonly kind: 'text';
  readonly text: string;
  readonly title: string;
  readonly pages: number | null;
  readonly chunkCount: number;
  readonly warnings: readonly string[];
}

export interface ParsedChunks {
  readonly kind: 'chunks';
  readonly chunks: readonly ParsedChunk[];
}

export interface ParsedChunk extends Chunk, IndexedChunk {
  readonly text: string;
  readonly place: number;
}

/** The picture of a page as a PNG. */
export interface DrawnPage {
  readonly kind: 'page';
  readonly png: Uint8Array;
}

export type ParseReply =
  | DrawnPage
  | ParsedText
  | ParsedChunks
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string; readonly cause?: string };
