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

/** The styles of lists of a document, from its parts that have some. Levels without numbers are left out. */
export function readListStyles(parts: readonly string[]): ListStyles {
  const styles = new Map<string, Map<number, Level>>();
  let levels: Map<number, Level> | undefined;
  for (const part of parts)
    readXml(part, {
      open(name, attributes) {
        if (name === 'text:list-style') {
          levels = new Map();
          styles.set(attributes['style:name'] ?? '', levels);
        }
        const form = attributes['style:num-format'] ?? '';
        if (name !== 'text:list-level-style-number' || form === '') return;
        levels?.set(Number(attributes['text:level'] ?? 1), {
          form,
          before: attributes['style:num-prefix'] ?? '',
          after: attributes['style:num-suffix'] ?? '',
          first: Number(attributes['text:start-value'] ?? 1),
          shown: Number(attributes['text:display-levels'] ?? 1),
        });
      },
      close(name) {
        if (name === 'text:list-style') levels = undefined;
      },
    });
  return styles;
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
  readonly #open: List[] = [];
  /** Numbers of the last points of lists that are over, by style and depth, and by their ids. */
  readonly #last = new Map<string, number>();
  readonly #ids: (string | undefined)[] = [];
  #mark = '';

  constructor(styles: ListStyles) {
    this.#styles = styles;
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'text:list') this.#begin(attributes);
    if (name === 'text:list-header') this.#mark = '';
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
    const level = this.#open.at(-1)?.levels.get(depth);
    if (!level) return '';
    const numbers = this.#open
      .slice(Math.max(0, depth - level.shown))
      .map(({ number, levels }, index, shown) => {
        const form = levels.get(depth - shown.length + index + 1)?.form ?? level.form;
        return listNumber(number, form);
      });
    return `${level.before}${numbers.join('.')}${level.after} `;
  }
}
