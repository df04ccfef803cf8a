import { type Term, termsOf } from '@octavo/data/terms';
import { isCommonWord, toQuestion } from './question.ts';

const namesMax = 3;
/** Number of words from which a question's phrases say more than the words by themselves. */
const longTerms = 8;

/**
 * A question and other ways to search for it: as it was asked, where it was put into context; by each name in it; a long one without names by its
 * phrases. Those that search for the same words are left out.
 */
export function variantsOf(query: string, asked = query): string[] {
  const names = namesIn(query).slice(0, namesMax);
  const isLong = toQuestion(query).terms.length >= longTerms;
  const others = names.length > 0 ? names : isLong ? [phrasesOf(query)] : [];
  const variants = new Map<string, string>();
  for (const variant of [query, asked, ...others]) {
    const words = toQuestion(variant).terms.map(({ stem }) => stem);
    const key = words.sort().join(' ');
    if (variant !== '' && !variants.has(key)) variants.set(key, variant);
  }
  return [...variants.values()];
}

/** Words with a capital or a digit, together where they stand together. The first word has a capital anyway. */
function namesIn(query: string): string[] {
  const [first] = termsOf(query);
  return runsOf(query, (term) => {
    const written = query.slice(term.start, term.end);
    return term.start !== first?.start && /^\p{Lu}|\p{N}/u.test(written) && !isCommonWord(term.word);
  });
}

/** The words that stand beside another one that says something. */
function phrasesOf(query: string): string {
  const runs = runsOf(query, ({ word }) => !isCommonWord(word));
  return runs.filter((run) => run.includes(' ')).join(' ');
}

function runsOf(query: string, isWanted: (term: Term) => boolean): string[] {
  const runs: { words: string[]; end: number }[] = [];
  let last: Term | undefined;
  for (const term of termsOf(query)) {
    const run = runs.at(-1);
    const goesOn = run?.end === last?.end && /^[\s-]+$/.test(query.slice(last?.end, term.start));
    if (isWanted(term) && run && goesOn) {
      run.words.push(term.word);
      run.end = term.end;
    } else if (isWanted(term)) runs.push({ words: [term.word], end: term.end });
    last = term;
  }
  return runs.map(({ words }) => words.join(' '));
}
