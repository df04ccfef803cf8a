import { toQuestion } from '../retrieval/index.ts';
import type { Said } from './turn.ts';

/** How many messages before a question may say what it is about: six questions with their answers. */
export const historyMax = 12;
const topicWordsMax = 12;
const queryMax = 4_000;

const refersBack =
  /\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|one|ones|same|former|latter|such)\b/i;
const goesOn =
  /^(?:and|but|or|so|also|then|what about|how about|what else|which of|why|when|where|more|any others?)\b/i;

/** A question as it would be asked without the conversation before it. It is the question itself if it says what it is about. */
export function inContext(query: string, history: readonly Said[]): string {
  const questions = history.filter(({ role }) => role === 'user').map(({ content }) => content);
  if (questions.length === 0 || !isFollowUp(query)) return query;
  // Questions that follow up on others lead back to the one that they are about.
  const about: string[] = [];
  for (const earlier of questions.toReversed()) {
    about.unshift(earlier);
    if (!isFollowUp(earlier)) break;
  }
  const own = new Set(toQuestion(query).terms.map(({ stem }) => stem));
  const words = about.flatMap((text) => namesAndTerms(text)).filter(({ stem }) => !own.has(stem));
  const topic = [...new Map(words.map((word) => [word.stem, word.text])).values()].slice(-topicWordsMax);
  return topic.length === 0 ? query : `${topic.join(' ')} ${query}`.slice(0, queryMax);
}

function isFollowUp(query: string): boolean {
  const { terms } = toQuestion(query);
  return terms.length <= 1 || goesOn.test(query) || (terms.length <= 6 && refersBack.test(query));
}

/** The telling words as they were written, so that names keep their capitals. */
function namesAndTerms(text: string): { stem: string; text: string }[] {
  const written = new Map(text.split(/[^\p{L}\p{N}’'-]+/u).map((word) => [word.toLowerCase(), word]));
  return toQuestion(text).terms.map(({ stem, word }) => ({ stem, text: written.get(word) ?? word }));
}
