import { intentOf, withoutCourtesy } from '../everyday/index.ts';
import { toQuestion } from '../retrieval/index.ts';
import type { ChatMessage } from './turn.ts';

const topicWordsMax = 12;
const queryMax = 4_000;
/** A longer question names its subject, even if it has a pronoun. */
const shortTerms = 6;

const refersBack =
  /\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|ones?|same|former|latter|such)\b/i;
const goesOn =
  /^(?:and|but|or|so|also|then|what about|how about|what else|what if|which of|more|any others?|why|in (?:what|which))\b/i;
/** Questions that are complete if they have more than a word or two. */
const asksAlone =
  /^(?:and |but |so )?(?:what|who|whom|whose|when|where|which|how|why|is|are|was|were|do|does|did|can|could|may|must|should|will)\b/i;
/** A thing in the place of one in the question before: "And of May?", "and 24?", "What about Wizards?" */
const instead =
  /^(?:and|or|but|what about|how about)?\s*(?:(?<preposition>for|of|in|on|at|by|with|from|to|about|per|as)\s+)?(?<thing>[^?!.,]+?)\s*[?!.]*$/i;

/** Another one of the same things: "a green one". */
const otherOf = /^(?:an?|the) ([\p{L}-]+) ones?$/iu;
const describedThing = /(\b(?:an?|the) )[\p{L}-]+ (?=\p{L}+)/iu;

/**
 * The ways in which a question may be meant after the messages before it, most likely first. A question that stands alone is meant as it
 * is. Another one takes the place of something in the question before, or takes its names, its subject or its words; or it is about
 * something else after all, which comes last.
 */
export function meantQuestions(query: string, history: readonly ChatMessage[]): readonly string[] {
  const asked = history
    .filter(({ role, content }) => role === 'user' && intentOf(content) === undefined)
    .map(({ content }) => withoutCourtesy(content));
  return meantAfter(query, asked);
}

function meantAfter(query: string, asked: readonly string[]): readonly string[] {
  const last = asked.at(-1);
  if (last === undefined || !isFollowUp(query)) return [query];
  const [before = last] = meantAfter(last, asked.slice(0, -1));
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
  const meant = [
    ...substituted(query, before),
    ...withWords(names.length < words.length ? names : []),
    ...withWords(words.length > 1 ? words.filter(({ text }) => text === subjectOf(before)) : []),
    ...withWords(words),
    ...(own.size > 1 ? [query] : []),
  ].map((each) => each.slice(0, queryMax));
  return meant.length === 0 ? [query] : [...new Set(meant)];
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

/** The question before with something else in the place of what stands where the new question would put it. */
function substituted(query: string, before: string): string[] {
  if (asksAlone.test(query) && !/^(?:what|how) about\b/i.test(query)) return [];
  const { preposition, thing = '' } = instead.exec(query.trim())?.groups ?? {};
  if (thing === '' || (refersBack.test(thing) && !otherOf.test(thing))) return [];
  const end = /[?!.\s]*$/.exec(before)?.index ?? before.length;
  const body = before.slice(0, end);
  if (preposition) {
    const at = body.toLowerCase().lastIndexOf(` ${preposition.toLowerCase()} `);
    if (at > 0) return [`${body.slice(0, at)} ${preposition} ${thing}?`];
  }
  const other = otherOf.exec(thing)?.[1];
  if (other !== undefined && describedThing.test(body))
    return [`${body.replace(describedThing, `$1${other} `)}?`];
  const like = [
    [/^\d+$/, /\d+(?!.*\d)/],
    [/^--?[A-Za-z][\w-]*$/, /(?<![\w-])--?[A-Za-z][\w-]*(?!.*\s--?[A-Za-z])/],
    [/^\p{Lu}/u, /(?<=\S\s)\p{Lu}[\p{L}\p{N}'’-]*(?:\s\p{Lu}[\p{L}\p{N}'’-]*)*(?!.*\s\p{Lu})/u],
  ] as const;
  const pattern = like.find(([kind]) => kind.test(thing))?.[1];
  return pattern?.test(body) ? [`${body.replace(pattern, () => thing)}?`] : [];
}

/** The telling words as they were written, so that names keep their capitals. */
function telling(text: string): { stem: string; text: string; isName: boolean }[] {
  const { terms } = toQuestion(text);
  return terms.map(({ stem, start, end }) => {
    const written = text.slice(start, end);
    return { stem, text: written, isName: start > 0 && /^[\p{Lu}\p{N}]|\p{Ll}\p{Lu}/u.test(written) };
  });
}
