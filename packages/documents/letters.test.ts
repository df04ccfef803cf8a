import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FileText, lettersNote, lettersOf } from './letters.ts';

const latin = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const textOf = (bytes: Uint8Array) => {
  const text = new FileText(lettersOf(bytes).encoding);
  return text.read(bytes) + text.rest();
};

test('letters are told by a mark, a declaration, UTF-8, else by a guess', () => {
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  assert.equal(lettersOf(utf16('\uFEFFDay;Sum')).encoding, 'utf-16le');
  assert.equal(lettersOf(utf16('Day;Sum;What;Where')).encoding, 'utf-16le');
  assert.equal(lettersOf(utf16('Day;Sum;What;Where').swap16()).encoding, 'utf-16be');
  assert.equal(lettersOf(Buffer.from('Größe 12 €')).encoding, 'utf-8');
  const cut = Buffer.from('Summe: 12 €');
  assert.equal(lettersOf(cut.subarray(0, cut.length - 1)).encoding, 'utf-8');
  assert.equal(
    textOf(latin('<?xml version="1.0" encoding="windows-1251"?><a>\xd7\xe0\xe9</a>')).slice(-7),
    'Чай</a>',
  );
  assert.match(
    textOf(latin('OFXHEADER:100\r\nENCODING:USASCII\r\nCHARSET:1250\r\n\r\n<NAME>\xa3\xf3d\xbf')),
    /Łódż$/,
  );
  // What the bytes are counts more than what a header says by habit.
  assert.match(textOf(Buffer.from('OFXHEADER:100\nCHARSET:1252\n\n<NAME>Çay')), /Çay$/);
  const guessed = lettersOf(latin('Stra\xdfe;Gr\xf6\xdfe;M\xfcller;K\xe4se;sch\xf6n;f\xfcr'));
  assert.equal(guessed.encoding, 'windows-1252');
  assert.ok(guessed.confidence < 1);
});

test('one malformed character among a thousand leaves the rest UTF-8', () => {
  const bytes = Buffer.concat([Buffer.from('Käse '.repeat(500)), Uint8Array.of(0xff)]);
  assert.equal(lettersOf(bytes).encoding, 'utf-8');
  const within = Buffer.concat([bytes, Buffer.from('and more')]);
  assert.match(lettersNote(lettersOf(within)) ?? '', /cannot be read/);
  assert.equal(lettersNote(lettersOf(bytes.subarray(0, 600))), undefined);
  assert.ok(textOf(bytes).endsWith('Käse \uFFFD'));
});

test('lines end with LF, whatever they end with, in pieces of any size', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'é', '', ' b')),
      fc.constantFrom('\n', '\r\n', '\r\r\n'),
      fc.integer({ min: 1, max: 5 }),
      (lines, end, size) => {
        const bytes = Buffer.from(lines.map((line) => line + end).join(''));
        const text = new FileText('utf-8');
        let read = '';
        for (let at = 0; at < bytes.length; at += size) read += text.read(bytes.subarray(at, at + size));
        assert.equal(read + text.rest(), lines.map((line) => `${line}\n`).join(''));
      },
    ),
  );
  assert.equal(textOf(Buffer.from('a\rb\rc')), 'a\nb\nc');
  assert.equal(textOf(Buffer.from('a\0b\n')), 'a\uFFFDb\n');
});
