import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { buildPico, dropUnusedProperties, pruneCss, splitSelectors, target, theme } from './css.ts';

test('selectors are split at outer commas only', () => {
  assert.deepEqual(splitSelectors('a:is(b,c), d[x="1,2"],e'), ['a:is(b,c)', 'd[x="1,2"]', 'e']);
});

test('rules and at-rules that are not kept are dropped, the license stays', () => {
  const css =
    '@charset "UTF-8";/*! MIT *//* x */a,.menu{color:red}.menu b{top:0}@media print{.menu{top:0}a{top:1}}@keyframes old{0%{top:0}}i::before{content:"}"}';
  const pruned = pruneCss(css, {
    keepSelector: (selector) => !selector.includes('.menu'),
    keepAtRule: (prelude) => !prelude.includes('old'),
  });
  assert.equal(pruned, '/*! MIT */\na{color:red}\n@media print{a{top:1}}\ni::before{content:"}"}\n');
});

test('custom properties go where nothing reads them, also through others', () => {
  const css = ':root{--a:1px;--b:var(--c);--c:url("x;}");--d:2px}p{top:var(--a)}';
  assert.equal(dropUnusedProperties(css, 'q{left:var(--d)}'), ':root{--a:1px;--d:2px}p{top:var(--a)}');
});

test('the committed stylesheet is up to date with Pico and our theme: run npm run css', () => {
  assert.equal(readFileSync(target, 'utf8'), buildPico());
});

test('the stylesheets leave a page room under 50 kB and ask for nothing that the policy blocks', () => {
  const css = readFileSync(target, 'utf8') + readFileSync(theme, 'utf8');
  assert.ok(Buffer.byteLength(css) < 36_000, `${Buffer.byteLength(css)} bytes`);
  assert.match(css, /Pico CSS/);
  assert.deepEqual(css.match(/data:|url\(|@import/g), null);
});
