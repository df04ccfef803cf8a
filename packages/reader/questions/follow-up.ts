import { isSmallTalk, withoutCourtesy } from '../everyday/intent.ts';
import type { ChatMessage } from './message.ts';
import { toQuestion } from './question.ts';

const topicWordsMax = 12;
const queryMax = 4_000;
/** A longer question names its subject, even if it has a pronoun. */
const shortTerms = 6;

const refersBack =
  /\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|ones?|same|former|latter|such)\b/i;
const goesOn =
  /^(?:and|but|or|so|also|then|what about|how about|what else|what if|which of|more|any others?|why|in (?:what|which))\b/i;

/** Another thing than the one in the question before: "And of May?", "and 24?", "What about Wizards?" */
const instead =
  /^(?:and|or|but|so)?\s*(?:what about|how about)?\s*(?:(?<preposition>for|of|in|on|at|by|with|from|to|about|per|as|under|after|before|during|since)\s+)?(?<thing>[^?!.,]+(?:[.,]\w[^?!.,]*)*)\s*[?!.]*$/i;
const asksAlone =
  /^(?:and |but |so )?(?!(?:what|how) about\b)(?:what|who|whom|whose|when|where|which|how|why|is|are|was|were|do|does|did|can|could|may|must|should|will|would)\b/i;
/** Things of one kind, of which one takes the place of another: numbers and names. */
const kindsOfThings = [
  [/^\d[\d.,]*$/, /(?<![\w.])\d[\d.,]*(?![\w.]*\w)/g],
  [/^\p{Lu}/u, /(?<=\S\s)(?!I\b)\p{Lu}[\p{L}\p{N}'’-]*(?:\s(?:\p{Lu}[\p{L}\p{N}'’-]*|\d[\d.]*))*/gu],
] as const;
/** The words behind a preposition, up to the next one, or a verb. */
const nounPhrase = String.raw`(?:(?!(?:in|of|on|at|for|by|with|from|to|per|as|under|after|before|during|since|is|are|was|were|do|does|did|has|have|had|can)\b)\S+\s*)+?(?=\s+(?:in|of|on|at|for|by|with|from|to|per|as|under|after|before|during|since|is|are|was|were|do|does|did|has|have|had|can)\b|\s*$)`;

/**
 * The ways in which a question may be meant after the messages before it, most likely first. A question that stands alone is meant as it
 * is. Another one puts its thing into the question before, or takes the names, the subject or the words of that; or it is about something else after
 * all, which comes last.
 */
export function meantQuestions(query: string, history: readonly ChatMessage[]): readonly string[] {
  const asked = history
    .filter(({ role, content }) => role === 'user' && !isSmallTalk(content))
    .map(({ content }) => withoutCourtesy(content));
  return meantAfter(query, asked);
}

function meantAfter(query: string, asked: readonly string[]): readonly string[] {
  const last = asked.at(-1);
  if (last === undefined) return [query];
  const [before = last] = meantAfter(last, asked.slice(0, -1));
  if (!isFollowUp(query)) return [query, ...afterNames(query, before)];
  const own = new Set(toQuestion(query).terms.map(({ stem }) => stem));
  const words = telling(before).filter(({ stem }) => !own.has(stem));
  const withWords = (chosen: readonly { readonly text: string }[]) =>
    chosen.length === 0
      ? []
      : [
          `${chosen
            .map(({ text }) => text)
            .slice(-topicWordsMax)
            .join(' ')} ${query}`,
        ];
  const names = words.filter(({ isName }) => isName);
  const subject = words.length > 1 ? words.filter(({ text }) => text === subjectOf(before)) : [];
  const meant = [
    ...substituted(query, before),
    ...withWords(names.length < words.length ? names : []),
    ...withWords(subject),
    ...withWords(words),
    ...(own.size > 1 ? [query] : []),
  ].map((each) => each.slice(0, queryMax));
  return meant.length === 0 ? [query] : [...new Set(meant)];
}

/** A short question without a name may be about the names of the question before. */
function afterNames(query: string, before: string): string[] {
  const own = telling(query);
  if (own.length > shortTerms || own.some(({ isName }) => isName)) return [];
  const names = telling(before).filter(
    ({ isName, stem }) => isName && own.every((each) => each.stem !== stem),
  );
  return names.length === 0 ? [] : [`${names.map(({ text }) => text).join(' ')} ${query}`];
}

/** The thing that a question ends with behind a preposition: `tmux` in "What is the prefix key in tmux?" */
function subjectOf(question: string): string | undefined {
  return /\b(?:of|in|for|on|with|from|about) (?:(?:the|an?|my|your|our) )?([\p{L}\p{N}_.+-]+?)[?!.\s]*$/iu.exec(
    question,
  )?.[1];
}

function isFollowUp(query: string): boolean {
  const { terms } = toQuestion(query);
  if (terms.length <= 1) return true;
  if (goesOn.test(query)) return terms.length <= shortTerms;
  return terms.length <= shortTerms && refersBack.test(query);
}

/** The question before with another thing in the place of the last one like it, or behind the same preposition. */
function substituted(query: string, before: string): string[] {
  const { preposition, thing: given = '' } = instead.exec(query.trim())?.groups ?? {};
  if (asksAlone.test(query) || given === '' || refersBack.test(given)) return [];
  const thing = given.replace(/^(?:the|an?) /i, '');
  const body = before.replace(/[?!.\s]+$/, '');
  const kind = kindsOfThings.find(([own]) => own.test(thing))?.[1];
  const phrase = preposition && new RegExp(String.raw`\b${preposition}\s+${nounPhrase}`, 'gi');
  const like = kind && [...body.matchAll(kind)].at(-1);
  const last = like ?? (phrase && [...body.matchAll(phrase)].at(-1));
  if (!last) return preposition ? [`${body} ${preposition} ${given}?`] : [];
  const other = like ? thing : `${preposition} ${given}`;
  return [`${body.slice(0, last.index)}${other}${body.slice(last.index + last[0].length)}?`];
}

/** The telling words as they were written, so that names keep their capitals. */
function telling(text: string): { stem: string; text: string; isName: boolean }[] {
  const { terms } = toQuestion(text);
  return terms.map(({ stem, start, end }) => {
    const written = text.slice(start, end);
    return { stem, text: written, isName: start > 0 && /^[\p{Lu}\p{N}]|\p{Ll}\p{Lu}/u.test(written) };
  });
}
