import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { normalize, storedNormalized } from './normalize.ts';

/** A slow, simple implementation to compare with. */
function simple(text: string): string {
  // Of all code points, only İ becomes two; the first of them is its simple lower case.
  return Array.from(text.normalize('NFC'), (character) => Array.from(character.toLowerCase())[0]).join('');
}

const alphabet = [
  ...['a', 'A', 'z', 'é', 'e\u0301', 'É', 'ß', 'ẞ', 'ſ', 'K', 'Å', 'ö', 'Ö', 'Σ', 'σ', 'ς', 'Ω', 'Ω', 'ί'],
  ...['İ', 'I', 'ı', 'i', 'i\u0307', 'Ж', 'ж', 'ё', 'ש', 'ل', 'हि', 'ก', 'ำ', '中', 'ガ', 'か\u3099', '가'],
  ...['\u1100\u1161', 'Ა', 'ა', '🙂', '👩‍💻', '🇺🇳', '𐐀', '𐐨', '\u{10ffff}', '\ufeff', ' ', '\n', '%', '0'],
];
const text = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 12 });

/** Without a character, or of private use. */
const empty = /\p{Cn}|\p{Co}/u;

/** Every character, every 64th of the other code points of the planes that have some, and the last one. */
function* characters(): Generator<string> {
  const surrogates = [0xd800, 0xe000] as const;
  const emptyPlanes = [0x40000, 0xe0000] as const;
  for (let codePoint = 1; codePoint < 0xf0000; codePoint++) {
    for (const [first, next] of [surrogates, emptyPlanes]) if (codePoint === first) codePoint = next;
    const character = String.fromCodePoint(codePoint);
    if (codePoint % 64 === 0 || !empty.test(character)) yield character;
  }
  yield '\u{10ffff}';
}

function codeOf(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16)}`;
}

test('normal form is the simple lower case of each code point of the NFC', () => {
  for (const character of characters()) {
    if (normalize(character) !== simple(character)) assert.fail(codeOf(character));
    if (normalize(`aΣ${character}Σ`) !== simple(`aΣ${character}Σ`))
      assert.fail(`${codeOf(character)} between`);
  }
});

test('the normal form is stored unless lower-casing ASCII gives it', () => {
  const lowerAscii = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const check = (title: string, body: string) => {
    const normalized = `${normalize(title)}A${normalize(body)}`;
    const plain = `${lowerAscii(title)}A${lowerAscii(body)}`;
    if (storedNormalized([title, body]) !== (normalized === plain ? null : normalized))
      assert.fail(JSON.stringify([title, body]));
  };
  for (const character of characters()) {
    check('A', character);
    check(`e${character}\u0301`, 'b');
    check(`の${character}${character}이`, '\u0438\u0306');
  }
  fc.assert(fc.property(text, text, check), { numRuns: 2_000 });
  fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), check), {
    numRuns: 2_000,
  });
});
