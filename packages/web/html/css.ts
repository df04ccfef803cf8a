import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Writes `packages/web/html/assets/pico.css`: what our markup and `theme.css` use of Pico.css. Run `npm run css` after a change of either; a
 * test fails where the file is out of date.
 */
export const target = new URL('assets/pico.css', import.meta.url);
export const theme = new URL('assets/theme.css', import.meta.url);

/**
 * The part of Pico that we use, one rule a line. Pico whole is 83 kB, more than a page may weigh. Its colors, menus, tooltips and data:
 * icons are left out, because the theme has its own and the Content-Security-Policy blocks the icons.
 */
export function buildPico(): string {
  const file = fileURLToPath(import.meta.resolve('@picocss/pico/css/pico.min.css'));
  // Pico draws role=button; our links that look like buttons have a class instead.
  const pico = readFileSync(file, 'utf8')
    .replaceAll('[role=button]', '.button')
    .replace(/--[\w-]+:url\("data:[^"]*"\);?/g, '')
    .replace(/(?<=[{;])-(?:moz|ms|o|webkit)-(?!text-size-adjust)[\w-]+:[^;}]*(;|(?=\}))/g, '');
  const used = pruneCss(pico, { keepSelector: isUsed, keepAtRule: () => false })
    // Exceptions for inputs that we do not have.
    .replace(/\[(type=(submit|button|reset|range)|role=switch)\],/g, '');
  const themeText = readFileSync(theme, 'utf8');
  return dropUnusedProperties(dropOverridden(used, themeText), themeText);
}

/** Drops the properties of `:root` that the theme sets itself. */
function dropOverridden(pico: string, themeText: string): string {
  const [, root = ''] = /:root \{(.*?)\n\}/s.exec(themeText) ?? [];
  const names = new Set(Array.from(root.matchAll(/(--pico-[\w-]+):/g), (match) => match[1]));
  return pico.replace(/^:root\{.*\}$/gm, (rule) =>
    rule.replace(/(--[\w-]+):((?:"[^"]*"|[^;}"])*)(;|(?=\}))/g, (whole, name) =>
      names.has(name) ? '' : whole,
    ),
  );
}

/** Parts of a stylesheet to keep. */
export interface PruneOptions {
  /** Keeps one selector of a rule; a rule without any left is dropped. */
  readonly keepSelector: (selector: string) => boolean;
  /** Keeps an at-rule by its prelude, such as `@keyframes tooltip-slide`; its rules are still pruned. */
  readonly keepAtRule: (prelude: string) => boolean;
}

interface Block {
  readonly prelude: string;
  readonly body: string;
}

/** A minified stylesheet without the unused rules, one rule a line. Comments are dropped, except those that begin with `!`. */
export function pruneCss(css: string, options: PruneOptions): string {
  const license = css.match(/\/\*![\s\S]*?\*\//g) ?? [];
  const rules = blocksOf(css.replace(/\/\*[\s\S]*?\*\//g, '')).map((block) => pruneBlock(block, options));
  return [...license, ...rules.filter((rule) => rule !== '')].map((part) => `${part}\n`).join('');
}

/** A stylesheet without the custom properties that no `var()` in it or in `others` reads, however they chain. */
export function dropUnusedProperties(css: string, others = ''): string {
  const used = new Set(Array.from(`${css}${others}`.matchAll(/var\(\s*(--[\w-]+)/g), (match) => match[1]));
  const next = css.replace(/(?<=[{;])(--[\w-]+):((?:"[^"]*"|[^;}"])*)(;|(?=\}))/g, (whole, name) =>
    used.has(name) ? whole : '',
  );
  const clean = next.replace(/(?<=[{}]|^)[^{}@]*\{;?\}/g, '');
  return clean === css ? css : dropUnusedProperties(clean, others);
}

/** Splits a selector list at its outer commas: `a:is(b,c),d` is `a:is(b,c)` and `d`. */
export function splitSelectors(list: string): string[] {
  const selectors: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < list.length; index += 1) {
    const character = list[index];
    if (character === '(' || character === '[') depth += 1;
    else if (character === ')' || character === ']') depth -= 1;
    else if (character === ',' && depth === 0) {
      selectors.push(list.slice(start, index).trim());
      start = index + 1;
    }
  }
  selectors.push(list.slice(start).trim());
  return selectors;
}

function pruneBlock({ prelude, body }: Block, options: PruneOptions): string {
  if (!prelude.startsWith('@')) {
    const kept = splitSelectors(prelude).filter(options.keepSelector);
    return kept.length > 0 && body.trim() !== '' ? `${kept.join(',')}{${body}}` : '';
  }
  if (!options.keepAtRule(prelude)) return '';
  if (!prelude.startsWith('@media')) return `${prelude}{${body}}`;
  const inner = blocksOf(body)
    .map((block) => pruneBlock(block, options))
    .join('');
  return inner === '' ? '' : `${prelude}{${inner}}`;
}

function blocksOf(css: string): Block[] {
  const blocks: Block[] = [];
  let depth = 0;
  let start = 0;
  let open = 0;
  for (let index = 0; index < css.length; index += 1) {
    const character = css[index];
    if (character === '"') index = css.indexOf('"', index + 1);
    else if (character === ';' && depth === 0) start = index + 1;
    else if (character === '{' && depth++ === 0) open = index;
    else if (character === '}' && --depth === 0) {
      blocks.push({ prelude: css.slice(start, open).trim(), body: css.slice(open + 1, index) });
      start = index + 1;
    }
  }
  return blocks;
}

function isUsed(selector: string): boolean {
  return !selector.startsWith(':where(a:not') && !unusedSelector.test(withoutNot(selector));
}

function withoutNot(selector: string): string {
  return selector.replace(/:not\((?:[^()]|\([^()]*\))*\)/g, (whole) =>
    // The rules of a color scheme are themselves written as ":root:not([data-theme=dark])".
    whole.includes('data-theme') ? whole : '',
  );
}

const unusedSelector = new RegExp(
  [
    'data-theme|:host|::selection|-moz-|-ms-|::-webkit-input|dir=',
    'role=(switch|group|search|link)|type=(range|color|date|time|month|week|button|submit|reset|checkbox|radio|search|file)',
    '\\.(secondary|contrast|outline|striped|grid|container|overflow-auto|dropdown|close|modal-)',
    '\\b(audio|video|canvas|iframe|figure|figcaption|kbd|samp|ins|del|mark|blockquote|sub|sup|hgroup|abbr|h4|h5|h6)\\b',
    '\\b(nav|aside|article|dialog|details|summary|optgroup|address|section|tfoot|img)\\b|body>',
    'fieldset|legend|:indeterminate|data-tooltip|aria-(busy|controls|hidden|disabled|invalid|current)|\\[multiple\\]|\\[disabled\\]|file-upload',
  ].join('|'),
);

if (import.meta.main) writeFileSync(target, buildPico());
