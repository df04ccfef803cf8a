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

/**
 * A text in lower case without Latin, Greek and Cyrillic accents, Hebrew points and Arabic vowel marks, in NFC: `Müller` and `MULLER`
 * become `muller`, `Søren` becomes `soren`. Compatibility forms (NFKC) become plain ones. Everything else stays.
 */
export function withoutAccents(text: string): string {
  return lettersOf(text).normalize('NFC');
}

/** The text of {@link withoutAccents} in NFD, in which a letter is a part of the letter with another mark: か of が. */
export function lettersOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(accents, '')
    .replace(/[ßæœøđðłþıς]/g, (letter) => plainLetters[letter] ?? letter);
}

/** The marks that {@link withoutAccents} leaves out, as a class of a regular expression. */
export const accentClass = '[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]';
const accents = new RegExp(accentClass, 'g');

/** The letters that {@link withoutAccents} writes as others, with those, in both cases. */
export const respelled: readonly (readonly [letters: string, written: string])[] = Object.entries(
  plainLetters,
).map(([letter, plain]) => [letter === 'ß' ? 'ßẞ' : bothCases(letter), plain]);

function bothCases(letter: string): string {
  const upper = letter.toUpperCase();
  return upper.toLowerCase() === letter ? letter + upper : letter;
}
