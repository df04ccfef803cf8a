/** What to leave out of a stylesheet. */
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

/** A minified stylesheet without the rules that nobody uses. Comments are dropped, except those that begin with `!`. */
export function pruneCss(css: string, options: PruneOptions): string {
  const licence = css.match(/\/\*![\s\S]*?\*\//g) ?? [];
  const rules = blocksOf(css.replace(/\/\*[\s\S]*?\*\//g, '')).map((block) => pruneBlock(block, options));
  return [...licence, ...rules].join('');
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
