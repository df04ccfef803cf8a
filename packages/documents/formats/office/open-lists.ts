import { listNumber } from '../marks/list-numbers.ts';
import { type Attributes, readXml } from './archive.ts';

/** Numbering of the points of one level of a list. */
interface Level {
  readonly form: string;
  readonly before: string;
  readonly after: string;
  readonly first: number;
  /** Number of levels whose numbers are shown, as in `2.1`. */
  readonly shown: number;
}

/** The levels of each style of lists, by their depth. */
type ListStyles = ReadonlyMap<string, ReadonlyMap<number, Level>>;

/** The style of the numbers of headings. */
const outline = 'text:outline-style';
const listStyle = /^text:(?:list|outline)-style$/;
const levelStyle = /^text:(?:list-level-style-number|outline-level-style)$/;

/** The styles of lists of a document, from its parts that have some. Levels without numbers are left out. */
export function readListStyles(parts: readonly string[]): ListStyles {
  const styles = new Map<string, Map<number, Level>>();
  let levels: Map<number, Level> | undefined;
  for (const part of parts)
    readXml(part, {
      open(name, attributes) {
        if (listStyle.test(name)) {
          levels = new Map();
          styles.set(name === outline ? outline : (attributes['style:name'] ?? ''), levels);
        }
        const form = attributes['style:num-format'] ?? '';
        if (!levelStyle.test(name) || form === '') return;
        levels?.set(Number(attributes['text:level'] ?? 1), {
          form,
          before: attributes['style:num-prefix'] ?? '',
          after: attributes['style:num-suffix'] ?? '',
          first: Number(attributes['text:start-value'] ?? 1),
          shown: Number(attributes['text:display-levels'] ?? 1),
        });
      },
      close(name) {
        if (listStyle.test(name)) levels = undefined;
      },
    });
  return styles;
}

/** Styles of paragraphs that are in no list, although those of their kind are, from the parts of a document. */
export function readUnlistedStyles(parts: readonly string[]): ReadonlySet<string> {
  const unlisted = new Set<string>();
  for (const part of parts)
    readXml(part, {
      open(name, attributes) {
        const { 'style:name': style = '', 'style:parent-style-name': parent = '' } = attributes;
        const list = attributes['style:list-style-name'];
        if (name !== 'style:style') return;
        if (list === '' || (list === undefined && unlisted.has(parent))) unlisted.add(style);
      },
    });
  return unlisted;
}

interface List {
  readonly style: string;
  readonly levels: ReadonlyMap<number, Level>;
  /** The number of its last point. */
  number: number;
}

/** Numbers the points of the lists of a document, in the order of its elements. */
export class OpenLists {
  readonly #styles: ListStyles;
  readonly #unlisted: ReadonlySet<string>;
  readonly #open: List[] = [];
  /** Numbers of the last points of lists that are over, by style and depth, and by their ids. */
  readonly #last = new Map<string, number>();
  readonly #ids: (string | undefined)[] = [];
  /** Numbers of the last headings by their level. */
  #headings: number[] = [];
  #mark = '';

  constructor(styles: ListStyles, unlisted: ReadonlySet<string>) {
    this.#styles = styles;
    this.#unlisted = unlisted;
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'text:list') this.#begin(attributes);
    if (name === 'text:list-header') this.#mark = '';
    if (name === 'text:h' && this.#open.length === 0) this.#mark = this.#headingMark(attributes);
    const list = this.#open.at(-1);
    if (name !== 'text:list-item' || !list) return;
    const start = attributes['text:start-value'];
    list.number = start === undefined ? list.number + 1 : Number(start);
    this.#mark = this.#shown();
  }

  close(name: string): void {
    if (name === 'text:list-item') this.#mark = '';
    if (name !== 'text:list') return;
    const list = this.#open.at(-1);
    if (list) {
      this.#last.set(`${list.style} ${this.#open.length}`, list.number);
      this.#last.set(`#${this.#ids.at(-1)}`, list.number);
    }
    this.#open.pop();
    this.#ids.pop();
  }

  /** The number before the first paragraph of a point, with a space; empty before others. */
  takeMark(): string {
    const mark = this.#mark;
    this.#mark = '';
    return mark;
  }

  #begin(attributes: Attributes): void {
    const outer = this.#open.at(-1);
    const style = attributes['text:style-name'] ?? outer?.style ?? '';
    const levels = this.#styles.get(style) ?? new Map<number, Level>();
    const depth = this.#open.length + 1;
    const from = attributes['text:continue-list'];
    const goesOn = attributes['text:continue-numbering'] === 'true';
    const last = goesOn ? this.#last.get(`${style} ${depth}`) : this.#last.get(`#${from}`);
    const number = (goesOn || from !== undefined ? last : undefined) ?? (levels.get(depth)?.first ?? 1) - 1;
    this.#open.push({ style, levels, number });
    this.#ids.push(attributes['xml:id']);
  }

  #shown(): string {
    const depth = this.#open.length;
    const levels = this.#open.map((list, index) => list.levels.get(index + 1));
    return shownNumber(
      levels,
      this.#open.map(({ number }) => number),
      depth,
    );
  }

  /** The number of a heading outside of lists, which those of its level above it in the document give. */
  #headingMark(attributes: Attributes): string {
    const levels = this.#styles.get(outline);
    const depth = Number(attributes['text:outline-level'] ?? 1);
    const level = levels?.get(depth);
    const isUnlisted = this.#unlisted.has(attributes['text:style-name'] ?? '');
    if (!level || isUnlisted || attributes['text:is-list-header'] === 'true') return '';
    const firstOf = (place: number) => levels?.get(place)?.first ?? 1;
    const given =
      attributes['text:restart-numbering'] === 'true' ? attributes['text:start-value'] : undefined;
    const last = this.#headings[depth - 1];
    const above = Array.from(
      { length: depth - 1 },
      (_, place) => this.#headings[place] ?? firstOf(place + 1),
    );
    const number = given === undefined ? (last === undefined ? level.first : last + 1) : Number(given);
    this.#headings = [...above, number];
    const shown = this.#headings.map((_, place) => levels?.get(place + 1));
    return shownNumber(shown, this.#headings, depth);
  }
}

/** The number of a point at the depth of its level; empty if its level has none. */
function shownNumber(
  levels: readonly (Level | undefined)[],
  numbers: readonly number[],
  depth: number,
): string {
  const level = levels[depth - 1];
  if (!level) return '';
  const from = Math.max(0, depth - level.shown);
  const parts = numbers.slice(from).map((number, index) => {
    const form = levels[from + index]?.form ?? level.form;
    return listNumber(number, form);
  });
  return `${level.before}${parts.join('.')}${level.after} `;
}
