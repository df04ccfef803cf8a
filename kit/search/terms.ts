import { stemmer } from 'stemmer';

/** A word of a text. */
export interface Term {
  /** In lower case, without accents. */
  readonly word: string;
  /** The English stem of the word. A word with letters beyond ASCII is its own stem. */
  readonly stem: string;
  /** Its position in the text, in UTF-16 units; `end` is the index after it. */
  readonly start: number;
  readonly end: number;
}

/** The rest of a longer word is ignored, in texts and in queries alike. */
const wordLengthMax = 64;

/** Scripts without spaces between words. There, each letter is a word, and a query of several is a phrase. */
const spaceless =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
const words = new RegExp(`[${spaceless}]\\p{M}*|[[\\p{L}\\p{N}\\p{M}]--[${spaceless}]]+`, 'gv');

/** Latin letters that Unicode does not decompose into a base letter and an accent. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
};

/** The words of a text in their order: runs of letters and digits, whatever stands between them. */
export function termsOf(text: string): Term[] {
  const terms: Term[] = [];
  for (const { 0: match, index } of text.matchAll(words)) {
    // A character such as ㈠ becomes one of another script.
    for (const [word] of plain(match).matchAll(words)) {
      terms.push({ word, stem: stemOf(word), start: index, end: index + match.length });
    }
  }
  return terms;
}

function stemOf(word: string): string {
  return /^[a-z]+$/.test(word) ? stemmer(word) : word;
}

/** Lower case without Latin, Greek and Cyrillic accents, Hebrew points and Arabic vowel marks; other marks are letters. */
function plain(word: string): string {
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]|[^\p{L}\p{N}\p{M}]/gu, '')
    .replace(/[ßæœøđðłþıς]/g, (letter) => plainLetters[letter] ?? letter)
    .normalize('NFC')
    .slice(0, wordLengthMax)
    .toWellFormed();
}
