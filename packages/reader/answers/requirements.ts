import { stemsOf, termsOf } from '@octavo/data/terms';
import type { Passage } from '../passages/passage.ts';
import type { QueryTermWeights as Evidence } from '../questions/query-term-weights.ts';
import { fieldsOf, lacksColumn } from './columns.ts';
import { isMonth, isMonthOf } from './question/dates.ts';
import { type AskedKind, askedKindOf, asksForKind, hasKind } from './question/kinds.ts';
import type { CandidateSentence } from './sentence-features.ts';

/** Demands of a question on its answer, beside being about the same. */
export interface Requirements {
  /** Stems of names, which must be in the sentence or its headings and context. */
  readonly names: readonly string[];
  /** Numbers and options, which must be in the sentence itself or be its term. */
  readonly exact: readonly string[];
  readonly kind: AskedKind;
  /** Stems of all words that are searched for. */
  readonly terms: readonly string[];
  /** Stems of the term to define. */
  readonly defined: readonly string[];
  /** The property that is asked for and other words for it, by stem: `popul` in "What is the population of Barbados?" */
  readonly property: readonly string[];
  /** Stems of the words before the property: `iata` in "What is the IATA code of the airport?" */
  readonly modifiers: readonly string[];
  /** True if the state of now is asked for, and a person has it. */
  readonly isCurrent: boolean;
}

const numberAlone = /(?<![\p{L}\d])\d+(?:[.,]\d+)*(?![\p{L}\d]|[.,]\d)/gu;
/** The unit that something is counted by: `second` in "How many requests per second?" */
const ratePattern = /\b(?:per|each|every) (?<unit>\p{L}+)/giu;
/** A product with its version, which belong together. */
const numberedName = /(?<=\S\s)\p{Lu}[\p{L}]+ \d+(?:\.\d+)*(?![\p{L}\d%]|[.,]\d)/gu;
const optionPattern = /(?<![\w-])--?[A-Za-z][\w-]*/g;
/** A path of a file system, as a whole. */
const pathPattern = /(?<![\w.:/])\/[\w.-]+(?:\/[\w.-]+)*/g;
const defining =
  /^\W*(?:what|who) (?:is|are|was|were|does|do)\s+(?:(?:the|a|an)\s+)?(.+?)(?:\s+(?:do|mean|stand for|about))?\s*[?.!]*$/i;
const propertyPattern =
  /^\W*(?:and )?(?:what|who) (?:is|are|was|were) the (?<modifiers>(?:[\p{L}-]+ ){0,4}?)(?<property>[\p{L}-]+) (?:of|in|for|on|at)\b/iu;
const currentPattern = /\b(?:current|currently|now|today|nowadays|these days|at present)\b/i;

const asksForMeans =
  /\bhow (?:do|does|can|could|should|would|to|must|may) (?:i|we|you|one|somebody|someone)\b|\bhow to\b|\b(?:which|what)(?: \p{L}+){0,2} (?:options?|switch(?:es)?|flags?|commands?|settings?|filters?|parameters?)\b/iu;
/** Short forms in capitals that are words, and no names. */
const plainAcronyms = new Set(
  'pc pcs cd cds dvd dvds tv usb id ids os url urls faq cpu cpus ram rom hd ssd gps html pdf pdfs txt csv kb mb gb tb am pm ok'.split(
    ' ',
  ),
);

/** Returns the requirements of a question. */
export function requirementsOf({ question }: Evidence): Requirements {
  const { text, terms } = question;
  const written = terms.map((term) => ({ ...term, form: text.slice(term.start, term.end) }));
  const options = [...text.matchAll(optionPattern)].map(([option]) => option);
  const first = termsOf(text)[0];
  const isName = ({ form, start }: { form: string; start: number }) =>
    (/^\p{Lu}/u.test(form) && start !== first?.start) || /^\p{L}+\p{Lu}|\p{L}\d|\d\p{L}/u.test(form);
  const about = defining.exec(text)?.[1] ?? '';
  const names = written
    .filter((term) => isName(term) && /^\p{L}{2}/u.test(term.word) && !plainAcronyms.has(term.word))
    .map(({ stem }) => stem);
  const kind = askedKindOf(text, names.length > 0);
  const { property, modifiers = '' } = propertyPattern.exec(text)?.groups ?? {};
  return {
    names,
    exact: [
      // What is to be done has numbers of its own: "change every 5 seconds".
      ...(asksForMeans.test(text)
        ? []
        : Array.from(text.matchAll(numberAlone), ([number]) => number.replaceAll(',', ''))),
      ...Array.from(text.matchAll(numberedName), ([name]) => name).filter(
        (name) => !isMonth(name.split(' ')[0] ?? ''),
      ),
      ...(kind.isQuantity
        ? Array.from(text.matchAll(ratePattern), ({ groups }) => `per ${groups?.unit}`)
        : []),
      ...options,
      ...Array.from(text.matchAll(pathPattern), ([path]) => path.replace(/\.$/, '')),
      ...(/\bdefault/i.test(text) ? ['default'] : []),
    ],
    kind,
    terms: terms.map(({ stem }) => stem),
    defined: stemsOf(about)
      .filter((stem) => terms.some((term) => term.stem === stem))
      .slice(0, 4),
    property: property ? stemsOf(property).slice(0, 1) : measuresOf(text),
    modifiers: stemsOf(modifiers),
    isCurrent: kind.isPerson && currentPattern.test(text),
  };
}

/** By an adjective, what it measures. */
const measures: Readonly<Record<string, readonly string[]>> = {
  old: ['age', 'born', 'birth', 'year'],
  tall: ['height', 'size'],
  high: ['height', 'elevation', 'altitude'],
  heavy: ['weight', 'mass'],
  deep: ['depth'],
  wide: ['width'],
  fast: ['speed', 'velocity', 'rate'],
  far: ['distance', 'range'],
};

/** Stems of a measure that a question asks for by its adjective: `tall` and `height` in "How tall is it?" */
function measuresOf(text: string): string[] {
  const adjective = /^\W*(?:and )?how (\p{L}+)\b/iu.exec(text)?.[1]?.toLowerCase() ?? '';
  const nouns = measures[adjective];
  return nouns ? stemsOf([adjective, ...nouns].join(' ')) : [];
}

/** Rare words of a question that titles or names of found documents have: an answer from a document without them is of something else. */
export function topicsOf(passages: readonly Passage[], evidence: Evidence): string[] {
  const titles = new Set(passages.flatMap(({ title, filename }) => stemsOf(`${title} ${filename}`)));
  return evidence.question.terms
    .map(({ stem }) => stem)
    .filter((stem) => titles.has(stem) && evidence.rarityOf(stem) > 0.5);
}

/** Shares of the requirements that a sentence misses, each from 0 to 1; and how much it begins like a definition. */
export interface Misses {
  readonly names: number;
  readonly exact: number;
  readonly kind: number;
  readonly property: number;
  readonly defines: number;
}

/** The quote around a sentence, the names in its passage, and those in all passages of its document that were found, by stem. */
export interface QuoteContext {
  readonly quote: string;
  /** The headings above it. */
  readonly above: string;
  readonly passage: ReadonlySet<string>;
  readonly document: ReadonlySet<string>;
}

/** The stems of words with capitals: `Windows` is not the windows of a screen. */
export function namesIn(text: string): Set<string> {
  const named = termsOf(text).filter(({ start, end }) => /\p{Lu}/u.test(text.slice(start, end)));
  return new Set(named.map(({ stem }) => stem));
}

/** Part that a name counts as missing if it stands only around the sentence and its headings. Rows say nothing of each other. */
const missingShares = { inPassage: 0.4, inDocument: 0.6 };

/** Returns the shares of the requirements that a quote does not meet. */
export function missesOf(
  required: Requirements,
  unit: CandidateSentence,
  { quote, above, passage, document }: QuoteContext,
): Misses {
  const { names, exact, defined, kind } = required;
  const own = `${unit.term} ${quote}`;
  const missing = names.map((stem) => {
    if (hasName(unit.context, stem) || isMonthOf(stem, quote)) return 0;
    if (unit.kind === 'row') return 1;
    if (hasName(passage, stem)) return missingShares.inPassage;
    return hasName(document, stem) ? missingShares.inDocument : 1;
  });
  const isPast = required.isCurrent && pastWords.test(unit.text) && !currentPattern.test(unit.text);
  return {
    names: missing.reduce<number>((sum, each) => sum + each, 0) / (names.length || 1),
    exact: shareOf(
      exact,
      (each) => !hasExact(each, own, quote) && !(each.startsWith('/') && hasPath(above, each)),
    ),
    kind: isPast || !hasKind(kind, quote, unit.kind) ? 1 : 0,
    property: lacksProperty(required, unit) ? 1 : 0,
    defines: defined.length === 0 ? 0 : definitionOf(unit.text, defined),
  };
}

/** The last heading, without its number. */
export function lastHeading(section: string): string {
  return (
    section
      .split(' > ')
      .at(-1)
      ?.replace(/^[\d.]+\s/, '') ?? ''
  );
}

/** A row with no word of the question but those of its columns is of something else: "Relevance: 3". */
function namesNothing(terms: readonly string[], unit: CandidateSentence): boolean {
  const columns = new Set(fieldsOf(unit.text).flatMap(({ name }) => stemsOf(name)));
  const others = terms.filter((stem) => !columns.has(stem));
  return columns.size > 0 && others.length > 0 && others.every((stem) => !unit.context.has(stem));
}

/** A row tells only what it has a column for. */
function lacksProperty({ property, modifiers, terms }: Requirements, unit: CandidateSentence): boolean {
  if (unit.kind === 'row' && namesNothing(terms, unit)) return true;
  if (property.length === 0) return false;
  if (unit.kind === 'row') {
    const names = [...property, ...modifiers];
    if (lacksColumn(unit.text, names, unit.context)) return true;
    if (names.some((stem) => unit.context.has(stem))) return false;
  }
  return !property.some((stem) => hasName(unit.context, stem));
}

const pastWords = /\b(?:was|were|had been|former|formerly|at (?:the|that) time|then|used to be|until)\b/i;

function hasExact(wanted: string, own: string, quote: string): boolean {
  if (wanted === 'default') return /default/i.test(quote);
  if (wanted.startsWith('per ')) return isRate(quote, wanted.slice('per '.length));
  if (wanted.startsWith('-')) return containsOption(own, wanted);
  if (wanted.startsWith('/')) return hasPath(own, wanted);
  const [, name = '', number = wanted] = /^(\p{L}+) (.+)$/u.exec(wanted) ?? [];
  if (name === '') return containsNumber(own, wanted);
  const pattern = `\\b(?:${name}|version|release)\\b(?::|[^\\d.;:]{0,12}) ?\\b${number.replaceAll('.', '\\.')}(?!\\d|\\.[1-9])`;
  return new RegExp(pattern, 'i').test(own);
}

/** Returns true if a text says how much of something there is in a unit: "per second", "a day", "10/min", "daily". */
function isRate(text: string, unit: string): boolean {
  const start = unit.slice(0, Math.max(3, unit.length - 1));
  return new RegExp(
    `(?:\\b(?:per|an?|each|every|by)\\s+(?:\\w+\\s+)?|/\\s?)${start}|\\b${start.replace(/y$/, 'i')}ly\\b`,
    'i',
  ).test(text);
}

const prefixMin = 5;

/** Names are also met by words that begin like them, such as German by Germany. */
export function hasName(stems: ReadonlySet<string>, name: string): boolean {
  if (stems.has(name)) return true;
  if (name.length < prefixMin) return false;
  const prefix = name.slice(0, Math.max(prefixMin, name.length - 2));
  for (const stem of stems) if (stem.startsWith(prefix)) return true;
  return false;
}

/** Returns true if a question asks for something of a kind, and a sentence by itself has it with all words of the question. */
export function isComplete({ kind }: Requirements, unit: CandidateSentence, evidence: Evidence): boolean {
  if (!asksForKind(kind)) return false;
  return evidence.share((stem) => unit.stems.has(stem)) > 0.99 && hasKind(kind, unit.text, unit.kind);
}

/** 1 if a text begins with what is to be defined and goes on as a definition, a half if it only begins with it. */
function definitionOf(text: string, stems: readonly string[]): number {
  const start = text.slice(0, 120);
  const terms = termsOf(start).slice(0, stems.length + 2);
  if (!stems.every((stem) => terms.some((term) => term.stem === stem))) return 0;
  const last = terms.findLast(({ stem }) => stems.includes(stem));
  const isNamedFirst = terms.slice(0, stems.length).every(({ stem }) => stems.includes(stem));
  return isNamedFirst &&
    /^["'”’)\]]*(?:\s*[:–—=-]|\s+(?:is|are|was|were|means?|stands for|refers to|contains?|holds?|describes?|specifies|sets|controls|determines|provides?)\b)/.test(
      start.slice(last?.end),
    )
    ? 1
    : 0.5;
}

function hasPath(text: string, path: string): boolean {
  return [...text.matchAll(pathPattern)].some(([each]) => each.replace(/\.$/, '') === path);
}

function containsOption(text: string, option: string): boolean {
  return [...text.matchAll(optionPattern)].some(([each]) => each === option);
}

const numberWords = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

/** A number as a word of its own; 01 is 1, and 3 is three. */
function containsNumber(text: string, number: string): boolean {
  const wanted = number.replace(/^0+(?=\d)/, '');
  const inWords = numberWords[Number(wanted)];
  if (inWords !== undefined && new RegExp(`\\b${inWords}\\b`, 'i').test(text)) return true;
  const found = text.matchAll(/\d+(?:[.,]\d+)*/g);
  return [...found].some(([each]) => each.replaceAll(',', '').replace(/^0+(?=\d)/, '') === wanted);
}

function shareOf<T>(items: readonly T[], test: (item: T) => boolean): number {
  return items.length === 0 ? 0 : items.filter(test).length / items.length;
}
