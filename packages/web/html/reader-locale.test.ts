import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNumber } from './format.ts';
import { kept, localeOf, readerLocale, withReaderLocale } from './reader-locale.ts';

test('the locale is the first language of the header that is supported', () => {
  const short = (header?: string) => localeOf(header)?.replace('-u-ca-gregory-nu-latn', '');
  assert.equal(short('de-CH, en;q=0.9'), 'de-CH');
  assert.equal(short('en;q=0.5, fr;q=0.8'), 'fr');
  assert.equal(short('tlh, de;q=0.1'), 'de');
  assert.equal(short('zh-Hant-TW'), 'zh-Hant-TW');
  // Extensions and variants give no locale of their own.
  assert.equal(localeOf('ar-EG-u-nu-arab'), localeOf('ar-EG'));
  assert.equal(short('de-DE-1996-x-anything'), 'de-DE');
  for (const none of [
    '',
    '*',
    undefined,
    'de;q=0',
    'x-private',
    'not a tag',
    '-',
    'q=1',
    'de-'.repeat(1_000),
  ])
    assert.ok([undefined, 'de'].includes(short(none)), String(none));
});

test('numbers follow the reader inside of a page only', async () => {
  assert.equal(readerLocale(), undefined);
  const inside = await withReaderLocale('de', async () => {
    await Promise.resolve();
    return formatNumber(1_234.5, 1);
  });
  assert.deepEqual([inside, formatNumber(1_234.5, 1)], ['1.234,5', '1,234.5']);
});

test('what readers name is not kept without end', () => {
  let made = 0;
  const get = kept((key) => {
    made++;
    return key;
  });
  assert.deepEqual([get('a'), get('a'), made], ['a', 'a', 1]);
  for (let key = 0; key < 2_500; key++) get(String(key));
  get('a');
  assert.ok(made > 2_500);
});
