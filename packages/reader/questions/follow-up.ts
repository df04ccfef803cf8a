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
/** Questions that are complete if they have more than a word or two. */
export const asksAlone =
  /^(?:and |but |so )?(?:what|who|whom|whose|when|where|which|how|why|is|are|was|were|do|does|did|can|could|may|must|should|will|would)\b/i;
/** Another thing than the one in the question before: "And of May?", "and 24?", "What about Wizards?" */
const instead =
  /^(?:and|or|but|so)?\s*(?:what about|how about|what if it (?:is|was))?\s*(?:(?<preposition>for|of|in|on|at|by|with|from|to|about|per|as|under|after|before|during|since)\s+)?(?<thing>[^?!.,]+(?:[.,]\w[^?!.,]*)*)\s*[?!.]*$/i;

/** Another one of the same things: "a green one". */
const otherOf = /^(?:an?|the) ([\p{L}-]+) ones?$/iu;
const describedThing = /(\b(?:an?|the) )[\p{L}-]+ (?=\p{L}+)/iu;
/** Words for values of the same thing, of which a question has one. */
const valueWord =
  /\b(?:default|maximum|minimum|largest|smallest|longest|shortest|highest|lowest|first|last|oldest|newest|average)\b/i;
/** Things of one kind, of which one takes the place of another: years, versions, other numbers, options, names. */
const kindsOfThings = [
  [/^(?:1\d|20)\d\d$/, /\b(?:1\d|20)\d\d\b/g],
  [/^\d+(?:\.\d+)+$/, /(?<![\w.])\d+(?:\.\d+)+(?![\w.]*\w)/g],
  [/^\d[\d,]*$/, /(?<![\w.])\d[\d,]*(?![\w.]*\w)/g],
  [/^--?[A-Za-z][\w-]*$/, /(?<![\w-])--?[A-Za-z][\w-]*/g],
  [/^\p{Lu}/u, /(?<=\S\s)(?!I\b)\p{Lu}[\p{L}\p{N}'’-]*(?:\s(?:\p{Lu}[\p{L}\p{N}'’-]*|\d[\d.]*))*/gu],
] as const;
/** An article with up to two words behind it, which are a thing and perhaps a verb. */
const articled = /\b(?<phrase>an? [\p{L}-]+(?: [\p{L}-]+)?)/giu;
/** A shorter word may be a code. */
const codeMax = 3;
/** The words behind a preposition, up to the next one, or a verb. */
const nounPhrase = String.raw`(?:(?!(?:in|of|on|at|for|by|with|from|to|per|as|under|after|before|during|since|is|are|was|were|do|does|did|has|have|had|can)\b)\S+\s*)+?(?=\s+(?:in|of|on|at|for|by|with|from|to|per|as|under|after|before|during|since|is|are|was|were|do|does|did|has|have|had|can)\b|\s*$)`;

/**
 * The ways in which a question may be meant after the messages before it, most likely first. A question that stands alone is meant as it
 * is. Another one takes the place of something in the question before, or takes its names, its subject or its words; or it is about
 * something else after all, which comes last.
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
    ...inPlaceOfPronoun(query, names.length === words.length ? [] : names),
    ...inPlaceOfPronoun(query, subject),
    ...withWords(names.length < words.length ? names : []),
    ...withWords(subject),
    ...withWords(words),
    ...(own.size > 1 ? [query] : []),
  ].map((each) => each.slice(0, queryMax));
  return meant.length === 0 ? [query] : [...new Set(meant)];
}

const pronoun = /\b(?:it|they|them|he|she|him)\b/gi;

/** The question with what was spoken of in the place of its pronoun. */
function inPlaceOfPronoun(query: string, chosen: readonly { readonly text: string }[]): string[] {
  if (chosen.length === 0 || query.match(pronoun)?.length !== 1) return [];
  return [query.replace(pronoun, () => chosen.map(({ text }) => text).join(' '))];
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

/** The question before with something else in the place of what is like it, likeliest first. */
function substituted(query: string, before: string): string[] {
  if (asksAlone.test(query) && !/^(?:and |but |so )?(?:what|how) about\b/i.test(query)) return [];
  const { preposition, thing: given = '' } = instead.exec(query.trim())?.groups ?? {};
  const end = /[?!.\s]*$/.exec(before)?.index ?? before.length;
  const body = before.slice(0, end);
  const other = otherOf.exec(given)?.[1];
  if (other !== undefined && describedThing.test(body))
    return [`${body.replace(describedThing, `$1${other} `)}?`];
  if (given === '' || refersBack.test(given)) return [];
  const thing = given.replace(/^(?:the|an?) /i, '');
  const value = valueWord.exec(thing)?.[0];
  if (value !== undefined && valueWord.test(body)) return [`${body.replace(valueWord, () => thing)}?`];
  const kind = kindsOfThings.find(([own]) => own.test(thing))?.[1];
  const like = kind && [...body.matchAll(kind)];
  const behind = new RegExp(String.raw`\b${preposition}\s+(?:(?:the|an?) )?$`, 'i');
  const replaced =
    like?.findLast(({ index }) => preposition !== undefined && behind.test(body.slice(0, index))) ??
    like?.at(-1);
  if (replaced)
    return [`${body.slice(0, replaced.index)}${thing}${body.slice(replaced.index + replaced[0].length)}?`];
  const ofArticle = /^(?:an?|the) /i.test(given) ? [...body.matchAll(articled)] : [];
  if (preposition === undefined && ofArticle.length > 0)
    return ofArticle.flatMap(({ index, groups: { phrase = '' } = {} }) => {
      const [article = '', ...words] = phrase.split(' ');
      const things = words.map((_, count) => [article, ...words.slice(0, count + 1)].join(' '));
      return things
        .toReversed()
        .map(({ length }) => `${body.slice(0, index)}${given}${body.slice(index + length)}?`);
    });
  if (preposition === undefined) {
    const subject = subjectOf(body) ?? (thing.length <= codeMax ? /\S+$/.exec(body)?.[0] : undefined);
    return subject && body.endsWith(subject) ? [`${body.slice(0, -subject.length)}${thing}?`] : [];
  }
  const phrase = new RegExp(String.raw`\b${preposition}\s+${nounPhrase}`, 'gi');
  const last = kind && /\d/.test(thing) ? undefined : [...body.matchAll(phrase)].at(-1);
  if (!last) return [`${body} ${preposition} ${given}?`];
  return [`${body.slice(0, last.index)}${preposition} ${given}${body.slice(last.index + last[0].length)}?`];
}

/** The telling words as they were written, so that names keep their capitals. */
function telling(text: string): { stem: string; text: string; isName: boolean }[] {
  const { terms } = toQuestion(text);
  return terms.map(({ stem, start, end }) => {
    const written = text.slice(start, end);
    return { stem, text: written, isName: start > 0 && /^[\p{Lu}\p{N}]|\p{Ll}\p{Lu}/u.test(written) };
  });
}
