import { foldedWords } from '@octavo/reader/conditions';
import { isCommonWord } from '@octavo/reader/questions';
import type { DataKind } from './trace.ts';

/** A record of the domain data with the names that it has. */
export interface KnownName {
  readonly kind: DataKind;
  readonly name: string;
  readonly slug: string;
}

/** A record that a question names. */
export interface Named extends KnownName {
  /** The word that may name it or something else, such as a first name; undefined if its whole name is there. */
  readonly part: string | undefined;
  /** Words beside the name that may belong to it, so that another person is meant: "Anna Berg" in "Anna Berg-Vogt". */
  readonly beside: readonly string[];
}

/** Words that alone do not name a sector or a company. */
const plainWords = new Set(
  'and of the for in ports food tools data technology energy lab labs grid team health clara second first third yellow'.split(
    ' ',
  ),
);
const titles = new Set(['mr', 'mrs', 'ms', 'miss', 'dr', 'prof', 'professor', 'partner', 'principal']);

/** The records that a text names, those with the longest names first. */
export function namedIn(text: string, names: readonly KnownName[]): Named[] {
  const tokens = tokensOf(text);
  const whole = names.flatMap((known) => {
    const words = wordsOf(known.name);
    const first = placeOf(words, tokens);
    if (first < 0) return [];
    // "What is loam?" may ask for the soil.
    const isWord = words.length === 1 && !tokens[first]?.isCapital;
    return [{ known, first, next: first + words.length, part: isWord ? words[0] : undefined }];
  });
  const parts = names
    .filter((each) => !whole.some(({ known }) => known === each) && !isInside(each, whole))
    .flatMap((known) => {
      const part = partOf(known, tokens);
      const first = tokens.findIndex(({ word }) => word === part);
      return first < 0 ? [] : [{ known, first, next: first + 1, part }];
    });
  const all = [...whole, ...parts];
  const taken = new Set(whole.flatMap(({ first, next }) => tokens.slice(first, next)));
  const partWords = new Set(parts.map(({ part }) => part));
  const isBeside = ({ word, isNameLike }: Token, part: string | undefined) =>
    isNameLike || (part !== undefined && partWords.has(word));
  // The sector "Health" is not meant where "Health Partners" is.
  return all
    .filter(({ known }) => !all.some((other) => isLonger(other.known, known)))
    .map(({ known, first, next, part }) => ({
      ...known,
      part,
      beside: neighborsOf(tokens, first, next)
        .filter((each) => !taken.has(each.token) && (each.isHyphenated || isBeside(each.token, part)))
        .map(({ token }) => token.word),
    }))
    .sort((one, other) => other.name.length - one.name.length);
}

interface Token {
  readonly word: string;
  readonly isCapital: boolean;
  /** True if it is written as names are, and not because a sentence begins with it. */
  readonly isNameLike: boolean;
  /** The signs between it and the next word. */
  readonly gap: string;
}

function tokensOf(text: string): Token[] {
  const isShouted = !/\p{Ll}/u.test(text);
  const matches = [...text.matchAll(/[\p{L}\p{N}\p{M}'’‘`]+/gu)];
  return matches.flatMap(({ 0: written, index }, place) => {
    const gap = text.slice(index + written.length, matches[place + 1]?.index ?? text.length);
    const isCapital = /^\p{Lu}/u.test(written);
    return wordsOf(written).map((word) => {
      const isPlain = isCommonWord(word) || titles.has(word);
      return { word, gap, isCapital, isNameLike: isCapital && place > 0 && !isShouted && !isPlain };
    });
  });
}

/** The words just before and after a place, if only spaces or a hyphen are between. */
function neighborsOf(tokens: readonly Token[], first: number, next: number) {
  const before = { token: tokens[first - 1], gap: tokens[first - 1]?.gap ?? '' };
  const after = { token: tokens[next], gap: tokens[next - 1]?.gap ?? '' };
  return [before, after].flatMap(({ token, gap }) =>
    token && /^(?:\s+|[-‐‑])$/.test(gap) ? [{ token, isHyphenated: gap.trim() !== '' }] : [],
  );
}

function placeOf(words: readonly string[], tokens: readonly Token[]): number {
  if (words.length === 0) return -1;
  return tokens.findIndex((_, at) => words.every((word, index) => tokens[at + index]?.word === word));
}

/** The word that names a record by a part: a person by the first or the last name, a sector by its slug or a telling word, a company by its first word. */
function partOf({ kind, name, slug }: KnownName, tokens: readonly Token[]): string | undefined {
  const words = wordsOf(name);
  const has = (word: string) =>
    word.length > 2 && !plainWords.has(word) && tokens.some((token) => token.word === word);
  if (kind === 'team') return [words[0] ?? '', words.at(-1) ?? ''].find(has);
  if (kind === 'sectors') {
    const own = slug.split('-');
    return placeOf(own, tokens) >= 0 ? own[0] : words.find(has);
  }
  const [first = ''] = words;
  return words.length > 1 && first.length > 4 && has(first) ? first : undefined;
}

/** Returns true if all that a part could name is named in full already: "Anna" beside "Anna Berg". */
function isInside(part: KnownName, found: readonly { readonly known: KnownName }[]): boolean {
  const words = wordsOf(part.name);
  return found.some(
    ({ known: { kind, name } }) =>
      kind === part.kind && words.some((word) => foldedWords(name).includes(` ${word} `)),
  );
}

function isLonger(other: KnownName, one: KnownName): boolean {
  const [long, short] = [foldedWords(other.name), foldedWords(one.name)];
  return long !== short && long.includes(short);
}

function wordsOf(text: string): string[] {
  return foldedWords(text).trim().split(' ').filter(Boolean);
}
