/** A piece of a document in its order: a heading, or a paragraph, a row of a table, a point of a list. */
export interface Block {
  readonly text: string;
  /** Level of a heading, from 1; absent for text. */
  readonly level?: number;
  readonly page?: number;
}

/** Content read from a file. */
export interface Extracted {
  readonly blocks: Block[];
  readonly title?: string | undefined;
  readonly pages?: number;
  readonly warnings?: readonly string[];
}

/** Warning of a document some of whose text is struck out, and so was not read. */
export const struckLeftOut = 'Struck text was left out.';

/** Warning of a document with runs of text that its author hid. */
export const hiddenLeftOut = 'Hidden text was left out.';
