import { stemsOf, termsOf } from './terms.ts';
import { standsAt, type WordQuery } from './word-query.ts';

export interface RankOptions<Document, Field extends string> {
  /** The texts of a document. */
  readonly textsOf: (document: Document) => Readonly<Record<NoInfer<Field>, string>>;
  /** Weight of a match in each field; zero if not listed. */
  readonly weights: Readonly<Partial<Record<Field, number>>>;
}

/** BM25's usual values: how soon further occurrences count for less, and how much a long text counts for less. */
const saturation = 1.2;
const lengthShare = 0.75;

/**
 * The documents that match a query, best first, by BM25 without the frequency of words in all documents, which is the same for each
 * of them. Documents with equal scores keep their order. It reads every text, 20 µs for one of a few lines, so give it hundreds.
 */
export function rankDocuments<Document, Field extends string>(
  documents: readonly Document[],
  query: WordQuery,
  { textsOf, weights }: RankOptions<Document, Field>,
): Document[] {
  const fields = Object.entries(weights) as [Field, number][];
  const found = documents.map((document) => {
    const texts = textsOf(document);
    return { document, counts: fields.map(([field]) => occurrences(texts[field], query)) };
  });
  const means = fields.map(
    (_, field) =>
      found.reduce((sum, { counts }) => sum + (counts[field]?.length ?? 0), 0) / found.length || 1,
  );
  const scored = found.map(({ document, counts }) => {
    let score = 0;
    for (const [index, { length, byClause }] of counts.entries()) {
      const weight = fields[index]?.[1] ?? 0;
      const share = 1 - lengthShare + (lengthShare * length) / (means[index] as number);
      for (const count of byClause) score += (weight * count) / (count + saturation * share);
    }
    return { document, score };
  });
  return scored.sort((a, b) => b.score - a.score).map(({ document }) => document);
}

/** Counts the words of a text, and the matches of each wanted clause in it. */
function occurrences(text: string, { wanted }: WordQuery): { length: number; byClause: number[] } {
  const plain = wanted.map(({ terms, prefix }) =>
    terms.length === 1 && prefix === undefined ? terms[0]?.stem : undefined,
  );
  if (!plain.includes(undefined)) {
    const stems = stemsOf(text);
    return { length: stems.length, byClause: plain.map((stem) => countIn(stems, stem)) };
  }
  const terms = termsOf(text);
  const byClause = wanted.map((clause) =>
    terms.reduce((count, _, index) => (standsAt(terms, index, clause) ? count + 1 : count), 0),
  );
  return { length: terms.length, byClause };
}

function countIn(stems: readonly string[], wanted: string | undefined): number {
  let count = 0;
  for (const stem of stems) if (stem === wanted) count++;
  return count;
}
