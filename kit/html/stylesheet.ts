import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dropUnusedProperties, pruneCss } from './prune-css.ts';

/**
 * The one stylesheet of all pages: what our markup uses of Pico.css, then `assets/theme.css`.
 * Pico whole is 83 kB, more than a page may weigh; its colours, menus, tooltips and data: icons are left out
 * because the theme has its own and the Content-Security-Policy blocks the icons.
 */
export function buildStylesheet(): string {
  const picoFile = createRequire(import.meta.url).resolve('@picocss/pico/css/pico.min.css');
  // Pico draws role=button; a link that leads somewhere is a link, so ours have a class instead.
  const pico = readFileSync(picoFile, 'utf8')
    .replaceAll('[role=button]', '.button')
    .replace(/--[\w-]+:url\("data:[^"]*"\);?/g, '')
    .replace(/(?<=[{;])-(?:moz|ms|o|webkit)-(?!text-size-adjust)[\w-]+:[^;}]*(;|(?=\}))/g, '');
  const theme = minify(readFileSync(new URL('assets/theme.css', import.meta.url), 'utf8'));
  const base = pruneCss(pico, { keepSelector: isUsed, keepAtRule: isUsedAtRule });
  // A thousand bytes of a page are the letters of "pico".
  return `${dropUnusedProperties(base, theme)}${theme}`.replaceAll('--pico-', '--p-');
}

function isUsed(selector: string): boolean {
  return !selector.startsWith(':where(a:not') && !unusedSelector.test(withoutNot(selector));
}

function isUsedAtRule(prelude: string): boolean {
  return /^@media ?\(prefers-reduced-motion:reduce/.test(prelude);
}

function withoutNot(selector: string): string {
  return selector.replace(/:not\((?:[^()]|\([^()]*\))*\)/g, (whole) =>
    // The rules of a colour scheme are themselves written as ":root:not([data-theme=dark])".
    whole.includes('data-theme') ? whole : '',
  );
}

const unusedSelector = new RegExp(
  [
    'data-theme|:host|::selection|-moz-|-ms-|dir=',
    'role=(switch|group|search|link)|type=(range|color|date|time|month|week|reset|checkbox|radio|search|file)',
    '\\.(secondary|contrast|outline|striped|grid|container|overflow-auto|dropdown|close|modal-)',
    '\\b(audio|video|canvas|iframe|figure|figcaption|kbd|samp|ins|del|mark|blockquote|sub|sup|hgroup|abbr|h4|h5|h6)\\b',
    '\\b(nav|aside|article|dialog|details|summary|optgroup|address|section|tfoot|img)\\b|body>',
    'fieldset|legend|:indeterminate|data-tooltip|aria-(busy|controls|hidden|disabled|invalid|current)|\\[multiple\\]|\\[disabled\\]|file-upload',
  ].join('|'),
);

function minify(css: string): string {
  return css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?/g, '$1')
    .replace(/: /g, ':')
    .replace(/;}/g, '}')
    .trim();
}
