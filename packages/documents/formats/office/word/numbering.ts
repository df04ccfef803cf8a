import { listNumber } from '../../marks/list-numbers.ts';
import { readXml } from '../archive.ts';

/** Numbers of one level of a list of Word (ECMA-376, 17.9.6). */
interface Level {
  format: string;
  /** The text of the number, in which `%2` is the number of the second level. */
  text: string;
  first: number;
  /** The level from 1 after whose points the count starts again; undefined for any level above, 0 for none. */
  restartsAfter: number | undefined;
  /** True if the numbers of the levels above are shown as digits, whatever their format. */
  isLegal: boolean;
  isHidden: boolean;
  /** The style whose paragraphs are points of this level. */
  style: string | undefined;
}

interface Numbering {
  readonly list: string;
  readonly levels: Map<number, Level>;
  /** Numbers from which the levels count from again where this numbering is used for the first time. */
  readonly starts: Map<number, number>;
}

interface StyleNumbering {
  base: string | undefined;
  numbering: string | undefined;
  level: number | undefined;
}

/** The lists of a Word file, and the styles whose paragraphs are points of them. */
export interface WordLists {
  readonly nums: ReadonlyMap<string, Numbering>;
  readonly abstract: ReadonlyMap<string, ReadonlyMap<number, Level>>;
  /** Styles that stand for lists, by the lists that name them. */
  readonly links: ReadonlyMap<string, string>;
  readonly styles: ReadonlyMap<string, StyleNumbering>;
  /** The style of paragraphs that name none. */
  readonly usualStyle: string;
}

const levelsMax = 9;
const basesMax = 20;
/** Longer ones are none that anyone reads. */
const textLengthMax = 40;

/** A whole number that is written, else another one. */
const wholeOf = (value: string | undefined, other: number) =>
  /^\d{1,6}$/.test(value ?? '') ? Number(value) : other;
const isOn = (value: string | undefined) => !/^(?:0|false|off)$/.test(value ?? '');

/** Reads the parts `numbering.xml` and `styles.xml`. */
export function readWordLists(numberingXml: string, stylesXml: string): WordLists {
  const nums = new Map<string, Numbering>();
  const abstract = new Map<string, Map<number, Level>>();
  const links = new Map<string, string>();
  let [list, levels, at]: [string, Map<number, Level>, number] = ['', new Map(), 0];
  let num: Numbering | undefined;
  let level: Level | undefined;
  readXml(numberingXml, {
    open(name, attributes) {
      const value = attributes['w:val'] ?? '';
      if (name === 'w:abstractNum') {
        list = attributes['w:abstractNumId'] ?? '';
        levels = new Map();
        abstract.set(list, levels);
      } else if (name === 'w:numStyleLink') links.set(list, value);
      else if (name === 'w:num') [list, levels] = [attributes['w:numId'] ?? '', new Map()];
      else if (name === 'w:abstractNumId') {
        num = { list: value, levels, starts: new Map() };
        nums.set(list, num);
      } else if (name === 'w:lvlOverride') at = wholeOf(attributes['w:ilvl'], 0);
      else if (name === 'w:startOverride') num?.starts.set(at, wholeOf(value, 1));
      else if (name === 'w:lvl') {
        level = levelOf();
        const depth = wholeOf(attributes['w:ilvl'], 0);
        if (depth < levelsMax) levels.set(depth, level);
      } else if (level) setProperty(level, name, attributes);
    },
    close(name) {
      if (name === 'w:lvl') level = undefined;
      if (name === 'w:num') num = undefined;
    },
  });
  return { nums, abstract, links, ...readStyles(stylesXml) };
}

function levelOf(): Level {
  return {
    format: 'decimal',
    text: '',
    first: 0,
    restartsAfter: undefined,
    isLegal: false,
    isHidden: false,
    style: undefined,
  };
}

function setProperty(level: Level, name: string, attributes: Readonly<Record<string, string>>): void {
  const value = attributes['w:val'];
  if (name === 'w:numFmt') level.format = value ?? 'decimal';
  else if (name === 'w:lvlText') level.text = value ?? '';
  else if (name === 'w:start') level.first = wholeOf(value, 0);
  else if (name === 'w:lvlRestart') level.restartsAfter = wholeOf(value, 0);
  else if (name === 'w:isLgl') level.isLegal = isOn(value);
  else if (name === 'w:vanish') level.isHidden = isOn(value);
  else if (name === 'w:pStyle') level.style = value;
}

function readStyles(xml: string): Pick<WordLists, 'styles' | 'usualStyle'> {
  const styles = new Map<string, StyleNumbering>();
  let [usualStyle, former] = ['', 0];
  let style: StyleNumbering | undefined;
  readXml(xml, {
    open(name, attributes) {
      const value = attributes['w:val'];
      if (name === 'w:pPrChange') former++;
      if (name === 'w:style') {
        const id = attributes['w:styleId'] ?? '';
        style = { base: undefined, numbering: undefined, level: undefined };
        styles.set(id, style);
        if (attributes['w:type'] === 'paragraph' && isOn(attributes['w:default'] ?? '0')) usualStyle = id;
      }
      if (!style || former > 0) return;
      if (name === 'w:basedOn') style.base = value;
      if (name === 'w:numId') style.numbering = value;
      if (name === 'w:ilvl') style.level = wholeOf(value, 0);
    },
    close(name) {
      if (name === 'w:pPrChange') former--;
      if (name === 'w:style') style = undefined;
    },
  });
  return { styles, usualStyle };
}

/** The list of a paragraph, as it tells by itself and by its style. */
export interface ListPlace {
  readonly numbering: string | undefined;
  readonly level: number | undefined;
  readonly style: string | undefined;
}

/** The number of the last point of a level; null if the level starts again, undefined if it had no point yet. */
type Count = number | null | undefined;

/** Counts the points of the lists in one text of a Word file: its body, a text box, its footnotes. */
export class ListCounter {
  readonly #lists: WordLists;
  /** Numbers of the last points by list and level. */
  readonly #counts = new Map<string, Count[]>();
  /** Starts that were used, by numbering and level. */
  readonly #started = new Set<string>();
  readonly #numberings = new Map<string, Numbering | undefined>();

  constructor(lists: WordLists) {
    this.#lists = lists;
  }

  /** Counts a paragraph. Returns its number as it is shown, empty for none; undefined if it is a point without a number, or none. */
  next(place: ListPlace): string | undefined {
    const { id, at, numbering } = this.#found(place);
    const level = numbering?.levels.get(at);
    if (!numbering || !level) return undefined;
    const counts = this.#counts.get(numbering.list) ?? [];
    this.#counts.set(numbering.list, counts);
    this.#restart({ id, at, numbering, counts });
    // Word counts a point of the levels above that had none yet.
    for (let above = 0; above < at; above++)
      if (counts[above] === undefined) counts[above] = firstOf(numbering, above);
    const last = counts[at];
    counts[at] = typeof last === 'number' ? last + 1 : firstOf(numbering, at);
    for (let below = at + 1; below < levelsMax; below++) {
      const after = numbering.levels.get(below)?.restartsAfter;
      if (after === undefined || at < after) counts[below] = counts[below] === undefined ? undefined : null;
    }
    return level.format === 'bullet' ? undefined : shownNumber(numbering, { at, level, counts });
  }

  #restart(point: { id: string; at: number; numbering: Numbering; counts: Count[] }): void {
    const { id, at, numbering, counts } = point;
    if (!numbering.starts.has(at) || this.#started.has(`${id} ${at}`)) return;
    this.#started.add(`${id} ${at}`);
    counts[at] = null;
  }

  #found({ numbering, level, style = this.#lists.usualStyle }: ListPlace) {
    const byStyle = this.#ofStyle(style);
    const id = numbering ?? byStyle.numbering ?? '0';
    if (!this.#numberings.has(id)) this.#numberings.set(id, this.#numberingOf(id));
    const found = this.#numberings.get(id);
    const linked = [...(found?.levels ?? [])].find(([, each]) => each.style === style)?.[0];
    const own = numbering === undefined ? (level ?? linked ?? byStyle.level) : level;
    return { id, at: own ?? 0, numbering: found };
  }

  #ofStyle(id: string): StyleNumbering {
    const found: StyleNumbering = { base: id, numbering: undefined, level: undefined };
    for (let count = 0; count < basesMax && found.base !== undefined; count++) {
      const style = this.#lists.styles.get(found.base);
      found.numbering ??= style?.numbering;
      found.level ??= style?.level;
      found.base = style?.base;
    }
    return found;
  }

  /** A numbering with the levels of its list, also where that is the one of a style. */
  #numberingOf(id: string, count = 0): Numbering | undefined {
    const num = this.#lists.nums.get(id);
    if (!num || count > basesMax) return undefined;
    const link = this.#lists.links.get(num.list);
    const linked = link === undefined ? undefined : this.#ofStyle(link).numbering;
    const outer = linked === undefined ? undefined : this.#numberingOf(linked, count + 1);
    const levels = outer?.levels ?? this.#lists.abstract.get(num.list) ?? new Map<number, Level>();
    return {
      list: outer?.list ?? num.list,
      levels: new Map([...levels, ...num.levels]),
      starts: num.starts,
    };
  }
}

function firstOf({ levels, starts }: Numbering, level: number): number {
  return starts.get(level) ?? levels.get(level)?.first ?? 1;
}

/** The number of a point as it is shown; undefined if one of its parts cannot be told. */
function shownNumber(
  numbering: Numbering,
  { at, level, counts }: { at: number; level: Level; counts: readonly Count[] },
): string | undefined {
  if (level.isHidden || level.text.length > textLengthMax) return '';
  const { levels } = numbering;
  let isTold = true;
  const text = level.text.replace(/%([1-9])/g, (_, digit: string) => {
    const other = Number(digit) - 1;
    const isPlain = level.isLegal && other < at;
    const format = isPlain ? 'decimal' : (levels.get(other)?.format ?? 'decimal');
    const shown = inFormat(counts[other] ?? firstOf(numbering, other), format);
    isTold &&= shown !== undefined;
    return shown ?? '';
  });
  return isTold ? text.trim() : undefined;
}

const lettersRepeat = 26;

/** A number in a format of Word (ECMA-376, 17.18.59); undefined for those that are not known here, such as words of a language. */
function inFormat(value: number, format: string): string | undefined {
  switch (format) {
    case 'decimal':
      return String(value);
    case 'decimalZero':
      return String(value).padStart(2, '0');
    case 'lowerRoman':
    case 'upperRoman':
      return listNumber(value, format === 'lowerRoman' ? 'i' : 'I');
    case 'lowerLetter':
    case 'upperLetter':
      return inLetters(value, format === 'lowerLetter' ? 'a' : 'A');
    case 'none':
      return '';
    default:
      return undefined;
  }
}

/** After `z` come `aa` and `bb`. */
function inLetters(value: number, form: string): string {
  const times = Math.ceil(value / lettersRepeat);
  if (times < 1 || times > textLengthMax) return String(value);
  return listNumber(((value - 1) % lettersRepeat) + 1, form).repeat(times);
}
