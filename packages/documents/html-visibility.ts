type Declarations = ReadonlyMap<string, string>;

/** Appearance of an element's text. */
export interface Look {
  /** True if it is absent for readers, whatever is inside. */
  readonly isGone: boolean;
  /** Inherited by elements inside unless they say otherwise. */
  readonly isVisible: boolean;
  readonly isTiny: boolean;
  readonly isStruck: boolean;
  readonly color: string;
  readonly ground: string;
}

/** Unknown background: matches no color. */
const unknown = 'unknown';
const transparent = 'transparent';

/** The look of a page outside all elements. */
export function firstLook(rules: StyleRules): Look {
  const ground = rules.knowsGrounds ? '#ffffff' : unknown;
  return { isGone: false, isVisible: true, isTiny: false, isStruck: false, color: '#000000', ground };
}

/** Returns true if a reader sees text that looks like this. */
export function isSeen(look: Look): boolean {
  return !look.isStruck && isDrawn(look);
}

/** Returns true if a reader sees that text is struck out that looks like this. */
export function isSeenStruck(look: Look): boolean {
  return look.isStruck && isDrawn(look);
}

function isDrawn({ isGone, isVisible, isTiny, color, ground }: Look): boolean {
  return !isGone && isVisible && !isTiny && color !== transparent && !isAlike(color, ground);
}

/**
 * The look of an element inside another one, by its attributes and by the style sheet of the page. Only selectors of tags, classes and ids
 * are understood; where a rule is not, the text counts as seen.
 */
export function lookOf(
  outer: Look,
  attributes: Readonly<Record<string, string>>,
  ruled: readonly Declarations[],
): Look {
  const style = new Map([...ruled, declarationsOf(attributes.style ?? '')].flatMap((each) => [...each]));
  const visibility = style.get('visibility');
  const background = `${style.get('background') ?? ''} ${style.get('background-image') ?? ''}`;
  const ground = /url\(|gradient\(/.test(background)
    ? unknown
    : colorOf(style.get('background-color') ?? style.get('background') ?? attributes.bgcolor);
  const fontSize =
    style.get('font-size') ??
    /(?:^|\s)(\d*\.?\d+(?:px|pt|em|rem|%)?)\s*(?:\/|\s)/.exec(style.get('font') ?? '')?.[1];
  return {
    isGone: outer.isGone || 'hidden' in attributes || isRemoved(style),
    isVisible: visibility === undefined ? outer.isVisible : !/^(?:hidden|collapse)$/.test(visibility),
    isTiny: fontSize === undefined || fontSize === 'inherit' ? outer.isTiny : isAtMost(fontSize, 1),
    isStruck:
      outer.isStruck ||
      /line-through/.test(`${style.get('text-decoration')} ${style.get('text-decoration-line')}`),
    color:
      colorOf(style.get('-webkit-text-fill-color') ?? style.get('color') ?? attributes.color) ?? outer.color,
    ground: ground === undefined || ground === transparent ? outer.ground : ground,
  };
}

/** True if not displayed, transparent, of no size, or outside the page. */
function isRemoved(style: Declarations): boolean {
  if (style.get('display') === 'none' || style.get('content-visibility') === 'hidden') return true;
  if (isFaint(style.get('opacity'))) return true;
  if (isFaint(/opacity\(\s*([\d.]+%?)/.exec(style.get('filter') ?? '')?.[1])) return true;
  if (/^scale[xy]?\(\s*0[\s,)]/.test(style.get('transform') ?? '')) return true;
  if (/^rect\((?:\s*[01](?:px)?[\s,)]+){4}$/.test(style.get('clip') ?? '')) return true;
  if (/^inset\((?:50|100)%/.test(style.get('clip-path') ?? '')) return true;
  const isCut = ['overflow', 'overflow-x', 'overflow-y'].some((name) =>
    /^(?:hidden|clip)/.test(style.get(name) ?? ''),
  );
  const isSmall = ['width', 'height', 'max-width', 'max-height', 'line-height'].some((name) =>
    isAtMost(style.get(name), 1),
  );
  if (isCut && isSmall) return true;
  const isPlaced = /^(?:absolute|fixed)$/.test(style.get('position') ?? '');
  const margins = ['text-indent', 'margin-left', 'margin-top'];
  const places = isPlaced ? ['left', 'top', 'right', 'bottom', ...margins] : margins;
  return places.some((name) => isAtMost(style.get(name), -999));
}

function isAtMost(length: string | undefined, most: number): boolean {
  const [, number, unit = 'px'] = /^(-?\d*\.?\d+)(px|pt|em|rem|%)?$/.exec(length ?? '') ?? [];
  if (number === undefined) return false;
  return Number(number) <= (unit.startsWith('p') ? most : Math.min(0, most));
}

/** Returns true for an opacity too low to read. */
function isFaint(value: string | undefined): boolean {
  const [, number, percent] = /^(\d*\.?\d+)(%?)$/.exec(value ?? '') ?? [];
  return number !== undefined && Number(number) / (percent ? 100 : 1) <= 0.1;
}

const named: Readonly<Record<string, string>> = {
  white: '#ffffff',
  black: '#000000',
  snow: '#fffafa',
  ivory: '#fffff0',
  whitesmoke: '#f5f5f5',
  ghostwhite: '#f8f8ff',
  floralwhite: '#fffaf0',
  mintcream: '#f5fffa',
  azure: '#f0ffff',
};

/** A color in one spelling; undefined if it is inherited, or not told. */
function colorOf(text: string | undefined): string | undefined {
  const first = /^(?:(?:rgb|hsl)a?\([^)]*\)|#[\da-f]+|[a-z]+)/.exec((text ?? '').trim().toLowerCase())?.[0];
  if (first === undefined || /^(?:inherit|initial|unset|none|currentcolor|url|var)$/.test(first))
    return undefined;
  const name = named[first] ?? first;
  const short = /^#([\da-f])([\da-f])([\da-f])([\da-f])?$/.exec(name)?.slice(1);
  const hex = short ? `#${short.map((digit) => (digit ? digit + digit : '')).join('')}` : name;
  if (/^#[\da-f]{8}$/.test(hex))
    return Number.parseInt(hex.slice(7), 16) < 26 ? transparent : hex.slice(0, 7);
  const [, space, inner = ''] = /^(rgb|hsl)a?\(([^)]*)\)$/.exec(hex) ?? [];
  if (space === undefined) return hex;
  const [one, two, three, alpha] = inner.split(/[\s,/]+/).filter((part) => part !== '');
  if (isFaint(alpha)) return transparent;
  if (space === 'hsl') return three === '100%' ? named.white : three === '0%' ? named.black : hex;
  const bytes = [one, two, three].map((part = '') =>
    Math.round(part.endsWith('%') ? Number.parseFloat(part) * 2.55 : Number(part)),
  );
  return bytes.every((byte) => byte >= 0 && byte <= 255)
    ? `#${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
    : hex;
}

/** Returns true if a reader cannot tell the colors apart. */
function isAlike(one: string, other: string): boolean {
  const bytesOf = (color: string) =>
    /^#[\da-f]{6}$/.test(color)
      ? [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
      : undefined;
  const [a, b] = [bytesOf(one), bytesOf(other)];
  if (!a || !b) return one === other;
  return a.every((byte, index) => Math.abs(byte - (b[index] ?? 0)) <= alikeMax);
}

/** Difference of a color's red, green or blue. */
const alikeMax = 16;

function declarationsOf(text: string): Declarations {
  const pairs = text
    .toLowerCase()
    .split(';')
    .map((declaration): [string, string] => {
      const colon = declaration.indexOf(':');
      const value = declaration.slice(colon + 1).replace('!important', '');
      return [declaration.slice(0, Math.max(0, colon)).trim(), value.trim()];
    });
  return new Map(pairs.filter(([name]) => name !== ''));
}

interface Rule {
  readonly parts: readonly string[];
  /** Parts of the elements around it, outermost first. */
  readonly around: readonly (readonly string[])[];
  readonly declarations: Declarations;
}

/** Tag, classes and id of an element, as selectors have them. */
export type Marks = ReadonlySet<string>;

/** The rules of the style sheets of a page, by the last part of their selectors. */
export class StyleRules {
  readonly #rules = new Map<string, Rule[]>();
  /** True if all rules about backgrounds are understood. */
  knowsGrounds = true;

  /** Adds a style sheet, without rules inside `@media` and the like. */
  add(sheet: string): void {
    const text = sheet.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, ' ');
    let depth = 0;
    let from = 0;
    for (const { 0: sign, index } of text.matchAll(/[{};]/g)) {
      if (sign === ';') {
        if (depth === 0) from = index + 1;
        continue;
      }
      depth = Math.max(0, depth + (sign === '{' ? 1 : -1));
      if (sign === '}' && depth === 0) {
        this.#addRule(text.slice(from, index));
        from = index + 1;
      }
    }
  }

  /** Declarations of the rules for an element inside others, which are the outermost first. */
  of(own: Marks, around: readonly Marks[]): Declarations[] {
    if (this.#rules.size === 0) return [];
    return [...own].flatMap((part) =>
      (this.#rules.get(part) ?? [])
        .filter((rule) => rule.parts.every((each) => own.has(each)) && isAround(rule.around, around))
        .map(({ declarations }) => declarations),
    );
  }

  #addRule(rule: string): void {
    const open = rule.indexOf('{');
    const selectors = rule.slice(0, Math.max(0, open)).trim();
    if (open < 0 || selectors.startsWith('@') || rule.includes('{', open + 1)) return;
    const declarations = declarationsOf(rule.slice(open + 1));
    for (const selector of selectors.split(',')) {
      // A child is taken for any element inside.
      const compounds = selector.replaceAll('>', ' ').trim().split(/\s+/);
      const all = compounds.map((compound) => compound.match(/[.#]?[\w-]+|\*/g) ?? []);
      const isUnderstood = all.every(
        (parts, index) => parts.length > 0 && parts.join('') === compounds[index],
      );
      const parts = all.at(-1) ?? [];
      const last = parts.at(-1);
      if (last === undefined || !isUnderstood) {
        if (/background/.test(rule)) this.knowsGrounds = false;
        continue;
      }
      const rules = this.#rules.get(last) ?? [];
      this.#rules.set(last, rules);
      rules.push({ parts, around: all.slice(0, -1), declarations });
    }
  }
}

/** The marks of an element. */
export function marksOf(tag: string, attributes: Readonly<Record<string, string>>): Marks {
  const classes = (attributes.class ?? '').split(/\s+/).filter(Boolean);
  return new Set(['*', tag, ...classes.map((name) => `.${name}`), `#${attributes.id ?? ''}`]);
}

function isAround(wanted: Rule['around'], around: readonly Marks[]): boolean {
  let at = 0;
  for (const marks of around) {
    const next = wanted[at];
    if (next === undefined) break;
    if (next.every((part) => marks.has(part))) at++;
  }
  return at >= wanted.length;
}
