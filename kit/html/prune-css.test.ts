import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropUnusedProperties, pruneCss, splitSelectors } from './prune-css.ts';
import { buildStylesheet } from './stylesheet.ts';

test('selectors are split at outer commas only', () => {
  assert.deepEqual(splitSelectors('a:is(b,c), d[x="1,2"],e'), ['a:is(b,c)', 'd[x="1,2"]', 'e']);
});

test('rules and at-rules that are not kept are dropped, the licence stays', () => {
  const css =
    '@charset "UTF-8";/*! MIT *//* x */a,.menu{color:red}.menu b{top:0}@media print{.menu{top:0}a{top:1}}@keyframes old{0%{top:0}}i::before{content:"}"}';
  const pruned = pruneCss(css, {
    keepSelector: (selector) => !selector.includes('.menu'),
    keepAtRule: (prelude) => !prelude.includes('old'),
  });
  assert.equal(pruned, '/*! MIT */a{color:red}@media print{a{top:1}}i::before{content:"}"}');
});

test('custom properties go where nothing reads them, also through others', () => {
  const css = ':root{--a:1px;--b:var(--c);--c:url("x;}");--d:2px}p{top:var(--a)}';
  assert.equal(dropUnusedProperties(css, 'q{left:var(--d)}'), ':root{--a:1px;--d:2px}p{top:var(--a)}');
});

test('the stylesheet leaves a page room under 50 kB and asks for nothing that the policy blocks', () => {
  const css = buildStylesheet();
  assert.ok(Buffer.byteLength(css) < 32_000, `${Buffer.byteLength(css)} bytes`);
  assert.match(css, /Pico CSS/);
  assert.deepEqual(css.match(/data:|url\(|@import/g), null);
});
