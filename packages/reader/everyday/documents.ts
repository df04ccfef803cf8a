import type { Passage } from '../passages/passage.ts';

/** A document as replies name it. */
export interface ListedDocument {
  readonly id: number;
  readonly title: string;
  readonly filename: string;
  /** Number of its passages. */
  readonly chunkCount: number;
}

/** The documents that the asker may ask, as replies about them look into them. */
export interface Documents {
  /** Returns those that the question is about, newest first. */
  list(): Promise<readonly ListedDocument[]>;
  /** Returns passages with the telling words of a text, best first, of all these documents or of the given ones. */
  passagesWith(text: string, options: PassagesWith): Promise<readonly Passage[]>;
  /** Returns the first passages of a document. */
  openingOf(document: number, limit: number): Promise<readonly Passage[]>;
  /** Returns the headings above the passages of a document, in their order. */
  sectionsOf(document: number, limit: number): Promise<readonly string[]>;
}

/** Options of a search for words. */
export interface PassagesWith {
  /** Passages with every word, or with any. */
  readonly match: 'every' | 'any';
  readonly limit: number;
  readonly only?: readonly number[];
}
