import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDuration } from './format.ts';
import { attributes, type Content, html, trustedHtml } from './html.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '/', '=', ' ', 'script', '!--', '&lt;', 'a') }),
);

test('text is escaped between tags and in attributes', () => {
  const text = `<b title="x">Tom & Jerry's</b>`;
  const escaped = '&lt;b title=&quot;x&quot;&gt;Tom &amp; Jerry&#39;s&lt;/b&gt;';
  assert.equal(String(html`<p title="${text}">${text}</p>`), `<p title="${escaped}">${escaped}</p>`);
});

test('no text whatever opens a tag, ends an attribute or is changed', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const [, inAttribute, inContent] =
        /^<p title="([^"<>']*)">([^"<>']*)<\/p>$/.exec(String(html`<p title="${text}">${text}</p>`)) ?? [];
      assert.equal(decode(inContent), text);
      assert.equal(decode(inAttribute), text);
      const [, inSet] =
        /^<p title="([^"<>']*)"><\/p>$/.exec(String(html`<p${attributes({ title: text })}></p>`)) ?? [];
      assert.equal(decode(inSet), text);
    }),
  );
});

test('fragments, arrays and conditions compose', () => {
  const items: Content[] = [html`<li>${1}</li>`, false, null, undefined, [html`<li>${2n}</li>`, 'a<b']];
  assert.equal(
    String(html`<ul>${items}${items.length === 0 && 'none'}</ul>`),
    '<ul><li>1</li><li>2</li>a&lt;b</ul>',
  );
});

test('attributes leave out what is absent and write true as the bare name', () => {
  const set = attributes({
    name: 'a"b',
    required: true,
    disabled: false,
    max: 0,
    min: null,
    step: undefined,
  });
  assert.equal(String(html`<input${set}>`), '<input name="a&quot;b" required max="0">');
});

test('only an explicit call takes text as markup', () => {
  assert.equal(String(html`<p>${trustedHtml('<i>x</i>')}</p>`), '<p><i>x</i></p>');
  const lookalike = JSON.parse('{"markup":"<i>x</i>"}') as Content;
  assert.throws(() => html`<p>${lookalike}</p>`, TypeError);
});

test('an address that runs code is not written', () => {
  for (const url of [
    'javascript:alert(1)',
    ' java\nscript:alert(1)',
    'DATA:text/html,x',
    '\u0001javascript:x',
  ]) {
    assert.equal(String(html`<a href="${url}">x</a>`), '<a href="about:invalid">x</a>');
    assert.equal(String(html`<a${attributes({ href: url })}>x</a>`), '<a href="about:invalid">x</a>');
  }
  for (const url of [
    '/posts?q=a:b',
    'https://example.org/',
    '?page=2',
    '#top',
    'mailto:a@b.c',
    'posts/1:2',
  ]) {
    assert.equal(String(html`<a href="${url}">x</a>`), `<a href="${url}">x</a>`);
  }
  assert.equal(String(html`<a href="/x/${'javascript:y'}">x</a>`), '<a href="/x/javascript:y">x</a>');
});

test('places that escaping cannot make safe are refused', () => {
  const text = 'x';
  assert.throws(() => html`<p title=${text}></p>`, /quote the attribute title/);
  assert.throws(() => html`<p ${text}></p>`, /only attributes\(\)/);
  assert.throws(() => html`<${text}></p>`, TypeError);
  assert.throws(() => html`<script>${text}</script>`, /no inline script/);
  assert.throws(() => html`<style>${text}</style>`, /no inline style/);
  assert.throws(() => html`<p style="color: ${text}"></p>`, /style is not allowed/);
  assert.throws(() => html`<p onclick="${text}"></p>`, /onclick is not allowed/);
  assert.throws(() => html`<iframe srcdoc="${text}"></iframe>`, /srcdoc is not allowed/);
  assert.throws(() => html`<!-- ${text} -->`, /no comments/);
  assert.throws(() => html`<p title="${text}`, /close its tags/);
  assert.throws(() => html`<p title="${html`<b>`}"></p>`, TypeError);
  assert.throws(() => html`<p>${attributes({ id: text })}</p>`, TypeError);
  assert.throws(() => attributes({ onclick: text }), TypeError);
  assert.throws(() => attributes({ 'a b': text }), TypeError);
});

function decode(text = ''): string {
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name] as string);
}

test('durations are in their two largest units', () => {
  const second = 1_000;
  const cases: [number, string][] = [
    [0, '0 seconds'],
    [999, '0 seconds'],
    [second, '1 second'],
    [61 * second, '1 minute 1 second'],
    [3_600 * second, '1 hour'],
    [3_605 * second, '1 hour'],
    [(26 * 60 + 3) * 60 * second, '1 day 2 hours'],
    [400 * 86_400 * second, '400 days'],
    [-5, '0 seconds'],
  ];
  for (const [ms, text] of cases) assert.equal(formatDuration(ms), text);
});
