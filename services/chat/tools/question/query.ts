import { foldedWords, QuestionWords } from '@octavo/reader/conditions';
import { isCommonWord } from '@octavo/reader/questions';
import type { Named } from '../naming.ts';
import type { ApiRecord, DataKind } from '../trace.ts';
import { type Condition, conditionsOf } from './conditions.ts';

/** A question to the domain data, as far as its words tell without asking the API. */
export interface Query {
  readonly text: string;
  readonly kind: DataKind | 'countries' | undefined;
  /** True if a noun names the kind, and not only a word such as "who". */
  readonly isExplicit: boolean;
  /** True if its words are those of any library, such as "people", so that it may only look like a question to the data. */
  readonly isPlain: boolean;
  readonly isCount: boolean;
  /** True if it asks for the amount of investments together. */
  readonly isSum: boolean;
  /** True if it asks who leads, or who is led. */
  readonly isLead: boolean;
  readonly conditions: readonly Condition[];
  /** Condition on the named sectors. */
  readonly sectors: Condition | undefined;
  /** Named fields that these records do not have. */
  readonly unknown: readonly string[];
  /** Words that were not understood, as they were written. */
  readonly rest: readonly string[];
}

/** Records that answer a question or a part of it, each with the step that brought it. */
export interface Finding {
  readonly kind: NonNullable<Query['kind']>;
  readonly rows: readonly { readonly record: ApiRecord; readonly step: number }[];
  /** All the steps that were asked. */
  readonly steps: readonly number[];
  /** False if there may be records that were not looked at. */
  readonly isWhole: boolean;
  readonly conditions: readonly Condition[];
  readonly isCount: boolean;
  readonly isSum: boolean;
  /** Parts of the question that could not be applied, as they were written. */
  readonly unapplied: readonly string[];
}

const nouns: readonly [Query['kind'] & string, RegExp][] = [
  ['countries', /countr(?:y|ies)/],
  ['sectors', /sectors?|industry|industries|practices?|verticals?/],
  ['team', /team|colleagues?|staff(?: members?)?|people|persons?|employees?|members?|investors?/],
  [
    'investments',
    /(?:portfolio )?(?:investments?|companies|startups?|deals?|stakes?|portfolio|businesses|firms)|exits?|write offs?/,
  ],
];
const weak: readonly [Query['kind'] & string, RegExp][] = [
  ['team', /who|whom|whose|anyone|anybody|somebody|someone|nobody/],
  [
    'investments',
    /(?:did|do|have|has) (?:we|you|harborlight|the firm|the fund) (?:ever )?(?:invest|invested|back|backed)|invested|exited|sold|written off/,
  ],
];
/** Words that hardly any question has that is not for this data. */
const tellingWords =
  /team|colleagues?|partners?|principals?|associates?|investors?|sectors?|verticals?|portfolio|invest(?:s|ed|ing|ments?)?|startups?|deals?|stakes?|write offs?/;
const fillers = new Set(
  'list show name tell give find see know please about any there here house firm fund funds portfolio currently current now still so far yet ever all each every everybody invest invested investing investment investments make made making get got work works working worked based located live lives living sit sits happen happened happening take took taken place exist exists overall total today total altogether just only actually exactly also joined join joins began started start money amount amounts worth big large much many number count deal deals company companies people person stage round rounds status sector sectors country countries town city belong belongs want like would could can me you your our us we i s m re ve many were been by led lead leads leading leader leaders cost costs head heads headed run runs running charge responsible mr mrs ms miss dr prof professor'.split(
    ' ',
  ),
);

/** Reads a question with the names that are in it. */
export function queryOf(text: string, named: readonly Named[]): Query {
  const words = new QuestionWords(text);
  const { kind, isExplicit } = kindOf(words);
  const isPlain = !words.has(tellingWords);
  const sectors = takeNames(words, named);
  const isCount = words.take(/how many|(?:the )?number of|count/).length > 0;
  const data = kind === 'countries' || kind === undefined ? 'investments' : kind;
  const isSum = data === 'investments' && words.take(/how much(?: money)?/).length > 0;
  const found = conditionsOf(data, words);
  const isLead =
    words.take(
      /(?:is |are )?(?:lead|leads|led|leading|head|heads|headed|runs?|in charge|responsible)(?: by)?/,
    ).length > 0;
  // What a negation is about would be taken for its opposite, and an order for any records.
  const unread = words.take(
    /(?:not|neither|nor|except|excluding|without|outside|no)(?: (?!\0)\S+){1,3}|largest|biggest|highest|top|smallest|lowest|latest|newest|most|fewest|least|oldest|earliest|(?:the|our|your) (?:first|last)|total|average/,
  );
  for (const [of, pattern] of [...nouns, ...weak])
    if (of === kind || of === data || of === 'investments') words.take(pattern);
  return {
    text,
    kind,
    isExplicit,
    isPlain,
    isCount,
    isSum,
    isLead,
    conditions: found.conditions,
    sectors,
    unknown: [...found.unknown, ...unread.map(({ text: written }) => written)],
    rest: words.rest((word) => isCommonWord(word) || fillers.has(word)),
  };
}

/** Understands the names in a question, and returns the condition that its sectors make. */
function takeNames(words: QuestionWords, named: readonly Named[]): Condition | undefined {
  const wordsOf = ({ name, slug }: Named) =>
    `${foldedWords(name)}${foldedWords(slug)}`
      .split(' ')
      .filter((word) => word !== '' && !isCommonWord(word));
  const sectors = named.filter(({ kind }) => kind === 'sectors');
  let isNegated = false;
  for (const sector of sectors) {
    const [first] = words.take(new RegExp(`(?:in |on |of |for )?(?:the )?(?:${wordsOf(sector).join('|')})`));
    if (first) isNegated = words.takeNegation(first.first) || isNegated;
  }
  const own = new Set(named.flatMap(wordsOf));
  words.takeEach((word) => own.has(word));
  if (sectors.length === 0) return undefined;
  const slugs = sectors.map(({ slug }) => slug);
  const [slug = ''] = slugs;
  return {
    label: `${isNegated ? 'not ' : ''}in ${sectors.map(({ name }) => name).join(' or ')}`,
    ...(slugs.length === 1 && !isNegated && { params: { sector: slug } }),
    ...((slugs.length > 1 || isNegated) && { shows: 'sector' }),
    matches({ sector, sectors: own }) {
      const has = [sector, own].flat().filter((each) => typeof each === 'string');
      if (sector === undefined && !Array.isArray(own)) return undefined;
      return has.some((each) => slugs.includes(each)) !== isNegated;
    },
  };
}

/** The kind of the first noun, after a question word if there is one. */
function kindOf(words: QuestionWords): { kind: Query['kind']; isExplicit: boolean } {
  const asked = (pattern: RegExp) =>
    words.has(
      new RegExp(
        `(?:which|what|how many|any|list|show|name|number of|all|the)(?: \\S+){0,4}? (?:${pattern.source})`,
      ),
    );
  const isWho = words.has(/who|whom/);
  const kinds = nouns.filter(([, pattern]) => words.has(pattern)).map(([kind]) => kind);
  const first = kinds
    .map((kind) => ({ kind, at: placeOf(words, nouns.find(([each]) => each === kind)?.[1] ?? /$/) }))
    .sort((one, other) => one.at - other.at)[0]?.kind;
  if (isWho && (first === undefined || !asked(/\S+/) || placeOf(words, /who|whom/) === 0))
    return {
      kind: 'team',
      isExplicit: words.has(
        /who (?:all )?(?:works?|leads?|joined|runs?|invests?|is|are|has|have|does|do|else)/,
      ),
    };
  const role = placeOf(words, /partners?|principals?|associates?/);
  const firstAt = first ? placeOf(words, nouns.find(([kind]) => kind === first)?.[1] ?? /$/) : Infinity;
  if (role >= 0 && role < firstAt) return { kind: 'team', isExplicit: true };
  if (first) return { kind: first, isExplicit: true };
  const guessed = weak.find(([, pattern]) => words.has(pattern))?.[0];
  return { kind: guessed, isExplicit: guessed === 'investments' && words.has(/what|which|how much/) };
}

function placeOf(words: QuestionWords, pattern: RegExp): number {
  for (let at = 0; words.wordAt(at) !== undefined; at++) {
    const text = [0, 1].map((more) => words.wordAt(at + more) ?? '').join(' ');
    if (new RegExp(`^(?:${pattern.source})(?= |$)`, 'u').test(text)) return at;
  }
  return -1;
}

const nextQuestion =
  /(?:\?\s+|;\s+|,?\s+(?:and|but|also)\s+)(?=(?:who|whom|what|which|how|when|where|is|are|do|does|did|list|show|tell|give)\b)/i;

/** The questions of a text: "How long is X, and who leads Y?" is two. */
export function splitQuestions(text: string): string[] {
  const parts = text.split(nextQuestion).map((part) => part.trim());
  return parts.every((part) => part.split(/\s+/).length > 1) ? parts : [text];
}
