import { termsOf } from '@octavo/data/terms';
import type { QueryTermWeights as Evidence } from '../questions/query-term-weights.ts';
import { isMonth } from './question/dates.ts';
import { type AskedKind, askedKindOf, hasKind } from './question/kinds.ts';
import type { CandidateSentence } from './sentence-features.ts';

/** Demands of a question on its answer, beside being about the same. */
export interface Requirements {
  /** Stems of names, which must be somewhere in the document. */
  readonly names: readonly string[];
  /** Numbers and options, which must be in the sentence itself or be its term. */
  readonly exact: readonly string[];
  readonly kind: AskedKind;
}

const numberAlone = /(?<![\p{L}\d])\d+(?:[.,]\d+)*(?![\p{L}\d]|[.,]\d)/gu;
/** The unit that something is counted by: `second` in "How many requests per second?" */
const ratePattern = /\b(?:per|each|every) (?<unit>\p{L}+)/giu;
/** A product with its version, which belong together. */
const numberedName = /(?<=\S\s)\p{Lu}[\p{L}]+ \d+(?:\.\d+)*(?![\p{L}\d%]|[.,]\d)/gu;
const optionPattern = /(?<![\w-])--?[A-Za-z][\w-]*/g;
/** A path of a file system, as a whole. */
const pathPattern = /(?<![\w.:/])\/[\w.-]+(?:\/[\w.-]+)*/g;
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
  const names = written
    .filter((term) => isName(term) && /^\p{L}{2}/u.test(term.word) && !plainAcronyms.has(term.word))
    .map(({ stem }) => stem);
  const kind = askedKindOf(text, names.length > 0);
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
  };
}

/** Shares of the requirements that a quote misses, each from 0 to 1. */
export interface Misses {
  /** Only of rows, which say nothing of each other. */
  readonly names: number;
  readonly exact: number;
  readonly kind: number;
}

/** The stems of words with capitals: `Windows` is not the windows of a screen. */
export function namesIn(text: string): Set<string> {
  const named = termsOf(text).filter(({ start, end }) => /\p{Lu}/u.test(text.slice(start, end)));
  return new Set(named.map(({ stem }) => stem));
}

/** Returns the shares of the requirements that a quote below some headings does not meet. */
export function missesOf(
  { names, exact, kind }: Requirements,
  unit: CandidateSentence,
  { quote, above }: { readonly quote: string; readonly above: string },
): Misses {
  const own = `${unit.term} ${quote}`;
  return {
    names: unit.kind === 'row' ? shareOf(names, (stem) => !hasName(unit.context, stem)) : 0,
    exact: shareOf(
      exact,
      (each) => !hasExact(each, own, quote) && !(each.startsWith('/') && hasPath(above, each)),
    ),
    kind: hasKind(kind, quote, unit.kind) ? 0 : 1,
  };
}

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
