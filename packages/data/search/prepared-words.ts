import type { Dialect } from '../db/session.ts';
import { termsOf } from './terms.ts';

/** The fields of a `WordIndex`. */
export interface WordLayout<Field extends string> {
  /**
   * The weight of a match in each field, in the order of the columns on SQLite. At most four different weights. With a
   * thousand times the weight a match in that field comes before any number of matches in the other.
   */
  readonly weights: Readonly<Record<Field, number>>;
  /** True to support queries with prefixes, the default. Without them the index has half the size, and no `…_word` columns. */
  readonly hasPrefixes?: boolean;
}

/** Columns that a `WordIndex` stores of a document. */
export type PreparedWords = Readonly<Record<string, string>>;

/** Marks whole words on PostgreSQL, which keeps them among the stems. */
export const wholeWord = '=';
/** The labels of fields on PostgreSQL, heaviest first. */
export const labels = ['A', 'B', 'C', 'D'] as const;
/** Gap between fields that no phrase reaches over on PostgreSQL. */
const fieldGap = 2;

/**
 * Prepares the columns that a `WordIndex` with this layout stores of a document. Splitting and stemming is most of the work of
 * indexing; this module loads no database, so that it can run in another thread or process.
 */
export function prepareWords<Field extends string>(
  dialect: Dialect,
  layout: WordLayout<Field>,
  texts: Readonly<Record<Field, string>>,
  scope?: number,
): PreparedWords {
  const mark = markOf(scope);
  if (dialect === 'postgres') return { terms: tsvector(layout, texts, mark) };
  const prepared: Record<string, string> = {};
  for (const field of Object.keys(layout.weights) as Field[]) {
    const terms = termsOf(texts[field]);
    prepared[field] = terms.map(({ stem }) => mark + stem).join(' ');
    if (layout.hasPrefixes !== false)
      prepared[wordColumn(field)] = terms.map(({ word }) => mark + word).join(' ');
  }
  return prepared;
}

/** Stands before each word of a scope, so that scopes have no word in common. No word of a text has an underscore. */
export function markOf(scope: number | undefined): string {
  return scope === undefined ? '' : `${scope}_`;
}

/** The column of a field's whole words on SQLite. */
export function wordColumn(field: string): string {
  return `${field}_word`;
}

/** The different weights, heaviest first, in the order of {@link labels}. */
export function distinctWeights(weights: readonly number[]): number[] {
  return [...new Set(weights)].sort((a, b) => b - a);
}

/** The text form of a `tsvector`: each stem and each word with its positions and the label of its field. */
function tsvector<Field extends string>(
  { weights, hasPrefixes = true }: WordLayout<Field>,
  texts: Readonly<Record<Field, string>>,
  mark: string,
): string {
  const distinct = distinctWeights(Object.values(weights));
  const positions = new Map<string, string[]>();
  const note = (lexeme: string, position: string) => {
    const known = positions.get(lexeme);
    if (known) known.push(position);
    else positions.set(lexeme, [position]);
  };
  let position = 0;
  for (const field of Object.keys(weights) as Field[]) {
    const label = labels[distinct.indexOf(weights[field])];
    for (const { word, stem } of termsOf(texts[field])) {
      position++;
      note(mark + stem, `${position}${label}`);
      if (hasPrefixes) note(`${wholeWord}${mark}${word}`, `${position}${label}`);
    }
    position += fieldGap;
  }
  return Array.from(positions, ([lexeme, at]) => `'${lexeme}':${at.join(',')}`).join(' ');
}
