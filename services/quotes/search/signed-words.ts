import { parseWordQuery, type WordQuery } from '@octavo/data/terms';

/** A word with signs that tell it from others, such as `c++` from `c#`, in lower case. */
export interface SignedWord {
  readonly word: string;
  /** False if no match has it. */
  readonly isWanted: boolean;
}

/** The words of a search. The index knows them without their signs, so those that have some are compared with the texts. */
export interface SignedQuery extends WordQuery {
  readonly signed: readonly SignedWord[];
}

const signedWord = /(?<![A-Za-z0-9])[A-Za-z0-9]+(?:\+\+|#)(?![A-Za-z0-9])/g;

/** Reads a search as {@link parseWordQuery} does. */
export function parseSignedQuery(text: string): SignedQuery {
  const signed = [...text.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)].flatMap(
    ([, minus, phrase, word = '']) => {
      const found = [...(phrase ?? word).matchAll(signedWord)].map(([each]) => each.toLowerCase());
      const isWanted = minus === '';
      // A phrase that no match has may have any of its words.
      if (!isWanted && found[0] !== (phrase ?? word).trim().toLowerCase()) return [];
      return found.map((each): SignedWord => ({ word: each, isWanted }));
    },
  );
  const query = parseWordQuery(text);
  if (!signed.some(({ isWanted }) => !isWanted)) return { ...query, signed };
  // Without its signs, an unwanted word would leave out others.
  const isSigned = ({ terms }: WordQuery['unwanted'][number]) =>
    signed.some(
      ({ word, isWanted }) =>
        !isWanted && terms.length === 1 && word.replace(/[+#]+$/, '') === terms[0]?.word,
    );
  return { ...query, unwanted: query.unwanted.filter((clause) => !isSigned(clause)), signed };
}
