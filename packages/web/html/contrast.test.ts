import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { splitSelectors, theme } from './css.ts';
import { accentRules, accents } from './marks.ts';

type Color = readonly [red: number, green: number, blue: number];
type Scheme = 'light' | 'dark';

/** Text and what it stands on, and the least contrast of both (WCAG 2.2, 1.4.3; bars and edges of controls 1.4.11). */
const pairs: readonly (readonly [front: string, back: readonly string[], least: number])[] = [
  ['--ink', ['--page', '--panel', '--surface', '--hover', '--accent-soft'], 7],
  ['--muted', ['--page', '--panel', '--surface', '--hover'], 4.5],
  ['--accent', ['--page', '--panel', '--surface', '--hover', '--accent-soft'], 4.5],
  ['--pico-primary-inverse', ['--accent-fill', '--accent-fill-hover', '--bad-fill'], 4.5],
  ['--accent-fill', ['--page', '--panel', '--surface', '--hover'], 3],
  ['--good', ['--surface', '--good-soft'], 4.5],
  ['--warn', ['--surface', '--warn-soft'], 4.5],
  ['--bad', ['--page', '--surface', '--bad-soft'], 4.5],
];

const texts = new Map(
  Array.from(
    readFileSync(theme, 'utf8').matchAll(/^\s+(--[\w-]+): ([^;]+);/gm),
    ([, name = '', text = '']) => [name, text],
  ),
);

for (const [accent, fills] of Object.entries(accents)) {
  test(`text is readable with the accent ${accent}, in both schemes`, () => {
    assert.ok(accentRules().includes(`light-dark(${fills.join(',')})`));
    for (const scheme of ['light', 'dark'] as const) {
      const tint = fills[scheme === 'light' ? 0 : 1];
      const colorOf = (name: string) => resolve(texts.get(name) ?? '', scheme, tint);
      const tooLow = pairs.flatMap(([front, backs, least]) =>
        backs.flatMap((back) => {
          const contrast = contrastOf(colorOf(front), colorOf(back));
          return contrast < least ? [`${front} on ${back}, ${scheme}: ${contrast.toFixed(2)}`] : [];
        }),
      );
      assert.deepEqual(tooLow, []);
    }
  });
}

/** Computes a color as a browser does: `#rgb`, `#rrggbb`, `var()`, `light-dark()` and `color-mix(in srgb, x n%, y)`. */
function resolve(text: string, scheme: Scheme, tint: string): Color {
  const hex = /^#([\da-f]{3,6})$/.exec(text)?.[1];
  if (hex) return hexColor(hex.length === 3 ? hex.replace(/./g, '$&$&') : hex);
  const [, name = '', inner = ''] = /^([\w-]+)\((.*)\)$/s.exec(text) ?? [];
  const parts = splitSelectors(inner);
  const part = (index: number) => resolve(parts[index] ?? '', scheme, tint);
  if (name === 'var')
    return inner === '--tint' ? hexColor(tint.slice(1)) : resolve(texts.get(inner) ?? '', scheme, tint);
  if (name === 'light-dark') return part(scheme === 'light' ? 0 : 1);
  const [, first = '', percent] = /^(.*) (\d+)%$/.exec(parts[1] ?? '') ?? [];
  assert.ok(name === 'color-mix' && percent, `no color: ${text}`);
  const mixed = resolve(first, scheme, tint).map((value, index) => {
    const share = Number(percent) / 100;
    return value * share + (part(2)[index] as number) * (1 - share);
  });
  return mixed as unknown as Color;
}

function hexColor(hex: string): Color {
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Color;
}

/** https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrastOf(a: Color, b: Color): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
