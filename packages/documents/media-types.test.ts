import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaTypeOf } from './media-types.ts';

test('name and content must agree', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  assert.equal(mediaTypeOf('a.md', bytes('# x')), 'text/markdown');
  assert.equal(mediaTypeOf('Main.java', bytes('class X {}')), 'text/x-source');
  for (const [name, content] of [
    ['a.exe', 'MZ'],
    ['a.pdf', 'hello'],
    ['a.docx', 'hello'],
    ['a.txt', 'PK\x03\x04'],
    ['a.txt', 'a\0b'],
    ['noending', 'a\0b'],
    ['book.epub', 'hello'],
    ['note.rtf', 'hello'],
  ] as const) {
    assert.throws(() => mediaTypeOf(name, bytes(content)), { code: 'unsupported_media_type' });
  }
});

test('a name without an ending is told by the content', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  for (const [name, content, type] of [
    ['README', 'Harbor', 'text/plain'],
    ['LICENSE', 'MIT', 'text/plain'],
    ['.notes', 'Harbor', 'text/plain'],
    ['page', '<!DOCTYPE html><p>x', 'text/html'],
    ['report', '%PDF-1.4', 'application/pdf'],
    ['letter', '{\\rtf1 x}', 'application/rtf'],
    ['days', 'BEGIN:VCALENDAR', 'text/calendar'],
    ['book', 'PK\x03\x04mimetypeapplication/epub+zipPK', 'application/epub+zip'],
    [
      'plan',
      'PK\x03\x04xl/workbook.xml',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ],
  ] as const)
    assert.equal(mediaTypeOf(name, bytes(content)), type, name);
  assert.equal(mediaTypeOf('a.txt', Buffer.from('Harbor of the north', 'utf16le')), 'text/plain');
});

test('files of older programs are refused with what to do', () => {
  assert.throws(
    () => mediaTypeOf('fees.xls', new Uint8Array(9)),
    /Save the file as \.xlsx and upload that\.$/,
  );
  assert.throws(() => mediaTypeOf('a.constructor', new Uint8Array(9)), /\.constructor are not supported\.$/);
});
