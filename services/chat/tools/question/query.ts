import { foldedWords, QuestionWords } from '@octavo/reader/conditions';
import { isCommonWord } from '@octavo/reader/questions';
import type { Named } from '../naming.ts';
import type { ApiRecord, DataKind } from '../trace.ts';
import { type Condition, type Conditions, conditionsOf, type Vocabulary } from './conditions.ts';

/** Order in which a question wants the records. */
export interface Order {
  readonly field: string;
  readonly isDescending: boolean;
  /** Number of records that it wants, and of those before them. */
  readonly count: number;
  readonly skip: number;
  /** As it was written. */
  readonly label: string;
}

/** A question to the domain data, as far as its words tell without asking the API. */
export interface Query {
  readonly text: string;
  readonly kind: DataKind | 'countries' | undefined;
  /** True if a noun names the kind, and not only a word such as "who". */
  readonly isExplicit: boolean;
  /** True if its words are those of any library, such as "people", so that it may only look like a question to the data. */
  readonly isPlain: boolean;
  readonly isCount: boolean;
  readonly isTotal: boolean;
  readonly isAverage: boolean;
  readonly order: Order | undefined;
  /** True if it asks who leads, or who is led. */
  readonly isLead: boolean;
  /** True if it asks for records that all the named people share. */
  readonly isShared: boolean;
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
  readonly order: Order | undefined;
  readonly isCount: boolean;
  readonly isTotal: boolean;
  readonly isAverage: boolean;
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
  ['team', /partners?|principals?|associates?|who|whom|whose|anyone|anybody|somebody|someone|nobody/],
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
const numbers = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** Reads a question with the names that are in it. */
export function queryOf(
  text: string,
  { named, vocabulary, nowMs }: { named: readonly Named[]; vocabulary: Vocabulary; nowMs: number },
): Query {
  const words = new QuestionWords(text);
  const { kind, isExplicit } = kindOf(words);
  const isPlain = !words.has(tellingWords);
  const sectors = takeNames(words, named);
  const isCount = words.take(/how many|(?:the )?number of|count/).length > 0;
  const data = kind === 'countries' || kind === undefined ? 'investments' : kind;
  const found: Conditions = conditionsOf({ kind: data, words, vocabulary, nowMs });
  const counted = data === 'investments' ? [] : countConditions(data, words);
  const order = orderOf(data, words);
  const isLead =
    words.take(
      /(?:is |are )?(?:lead|leads|led|leading|head|heads|headed|runs?|in charge|responsible)(?: by)?/,
    ).length > 0;
  const isShared = words.take(/together|both|share|shared|jointly|in common/).length > 0;
  for (const [of, pattern] of [...nouns, ...weak])
    if (of === kind || of === data || of === 'investments') words.take(pattern);
  return {
    text,
    kind,
    isExplicit,
    isPlain,
    isCount,
    isTotal: words.take(/total|sum|altogether|in all|overall|how much/).length > 0,
    isAverage: words.take(/average|mean|on average/).length > 0,
    order,
    isLead,
    isShared,
    conditions: [...found.conditions, ...counted],
    sectors,
    unknown: found.unknown,
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

function countConditions(kind: DataKind, words: QuestionWords): Condition[] {
  const pattern =
    /(?:with |have |has )?(more than|over|at least|fewer than|less than|at most|exactly) (\d+|one|two|three|four|five|six|seven|eight|nine|ten) (?:investments?|companies|deals?)/;
  return words.take(pattern).map(({ groups: [how = '', digits = ''], text }): Condition => {
    const wanted = Number(digits) || numbers.indexOf(digits);
    const compare = (count: number) =>
      how === 'exactly'
        ? count === wanted
        : how === 'at least'
          ? count >= wanted
          : how === 'at most'
            ? count <= wanted
            : /more|over/.test(how)
              ? count > wanted
              : count < wanted;
    return {
      label: text,
      ...(kind === 'sectors' && { shows: 'investment_count' }),
      matches({ investment_count: count, investment_ids: ids }) {
        const number = kind === 'sectors' ? count : Array.isArray(ids) ? ids.length : undefined;
        return typeof number === 'number' ? compare(number) : undefined;
      },
    };
  });
}

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth'];

function orderOf(kind: DataKind, words: QuestionWords): Order | undefined {
  const counts = numbers.slice(1).join('|');
  const skipped = `(?:(second|third|fourth|fifth) )?`;
  // "First investments" are any; "our first investment" is one.
  const size = `largest|biggest|highest|greatest|top|smallest|lowest|latest|newest|most recent|most recently|(?<=(?:the|our|your|s) )(?:last|first)|oldest|earliest|longest|richest`;
  const quantity = '(?:most|fewest|least) (?:investments?|companies|deals?|money|capital|funding)';
  const pattern = new RegExp(
    `(?:the |our |your )?${skipped}(?:(\\d+|${counts}) )?(${size}|${quantity})(?: (\\d+|${counts})(?! (?:years|months)))?`,
  );
  const [match] = words.take(pattern);
  if (!match) return undefined;
  const [ordinal, before, word = '', after] = match.groups;
  const digits = before ?? after ?? '';
  const fields = {
    team: { amount: 'investment_ids', day: 'joined_on' },
    investments: {
      amount: 'amount_minor',
      day: words.has(/exits?|exited|sold/) ? 'exited_on' : 'invested_on',
    },
    sectors: {
      amount:
        /money|capital|funding|est$/.test(word) && !/fewest|least/.test(word)
          ? 'total_amount_minor'
          : 'investment_count',
      day: 'name',
    },
  }[kind];
  const isDay = /latest|newest|recent|last|first|oldest|earliest|longest/.test(word);
  return {
    field: isDay ? fields.day : fields.amount,
    isDescending: !/smallest|lowest|first|oldest|earliest|longest|fewest|least/.test(word),
    count: Number(digits) || Math.max(1, numbers.indexOf(digits)),
    skip: ordinal ? ordinals.indexOf(ordinal) : 0,
    label: match.text.replace(/^(?:the|our|your) /i, ''),
  };
}

const nextQuestion =
  /(?:\?\s+|;\s+|,?\s+(?:and|but|also)\s+)(?=(?:who|whom|what|which|how|when|where|is|are|do|does|did|list|show|tell|give)\b)/i;

/** The questions of a text: "How long is X, and who leads Y?" is two. */
export function splitQuestions(text: string): string[] {
  const parts = text.split(nextQuestion).map((part) => part.trim());
  return parts.every((part) => part.split(/\s+/).length > 1) ? parts : [text];
}
