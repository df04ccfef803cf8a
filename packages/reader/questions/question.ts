import { type Term, termsOf } from '@octavo/data/terms';

/** Words that say little about the subject of a search. They are left out of searches, unless a question has no others. */
const commonWords = new Set(
  `a about above after again against all also am an and any are aren as at be because been before being below between both but by can cannot
  could couldn did didn do does doesn doing don down during each either else ever few for from further get gets getting give given gives go goes
  had hadn has hasn have haven having he her here hers herself him himself his how however i if in into is isn it its itself just let ll
  many may me might mine more most much must mustn my myself neither no nor not now of off on once one only onto or other others ought our
  ours ourselves out over own per please quite rather re really s said same say says see shall shan she should shouldn since so some such t
  tell than that the their theirs them themselves then there these they this those though through thus to too under until up upon us use
  used uses using ve very via was wasn way we were weren what whatever when whenever where whether which while who whoever whom whose why
  will with within without won would wouldn yet you your yours yourself yourselves explain describe anyone know known list show find
  example examples kind kinds type types name names mean means`.split(/\s+/),
);

/** A question as it is searched for. */
export interface Question {
  readonly text: string;
  /** The words that are searched for, each once, in their order. */
  readonly terms: readonly Term[];
}

const termsMax = 32;
/** Names that are written like common words but for their capitals. */
const namedAlike = new Set(['May', 'US', 'IT', 'WHO']);

/** Returns a question with its telling words; with all its words if none tells. */
export function toQuestion(text: string): Question {
  const all = termsOf(text);
  const isName = (term: Term) => namedAlike.has(text.slice(term.start, term.end)) && term.start > 0;
  const telling = all.filter((term) => !commonWords.has(term.word) || isName(term));
  const seen = new Set<string>();
  const terms = (telling.length > 0 ? telling : all).filter(({ stem }) => {
    if (seen.has(stem)) return false;
    seen.add(stem);
    return true;
  });
  return { text, terms: terms.slice(0, termsMax) };
}

/** Returns true if a word says little about the topic of a text. */
export function isCommonWord(word: string): boolean {
  return commonWords.has(word);
}
