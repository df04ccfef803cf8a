import { markedText } from '../marks/raised.ts';
import { type Cell, tableTexts } from '../table-rows.ts';
import type { Attributes } from './archive.ts';
import { hexOf, shaded, type ThemeColors } from './theme-colors.ts';

/** Hundredths of a point up to which a text is too small to see. */
const tinySize = 100;

interface Table {
  readonly rows: Cell[][];
  readonly texts: string[];
  headers: number;
}

/**
 * Reads the paragraphs of a slide and the rows of its tables, without the text of hidden shapes, and text that is struck, tiny, transparent
 * or in the color of its shape or slide. A ground that the slide inherits is not known, since something may lie between it and the text, so
 * text on it counts as seen.
 */
export class SlideReader {
  readonly texts: string[] = [];
  /** True if a reader sees text that is struck out. */
  hasStruck = false;
  readonly #colors: ThemeColors;
  readonly #inside: string[] = [];
  #text = '';
  #inText = false;
  #isHiddenShape = false;
  #isHiddenRun = false;
  #isStruckRun = false;
  #rise = 0;
  #runStart = 0;
  #slide: string | undefined;
  #shape: string | undefined;
  #color: string | undefined;
  #table: Table | undefined;
  #cell: Attributes = {};

  constructor(colors: ThemeColors) {
    this.#colors = colors;
  }

  open(name: string, attributes: Attributes): void {
    this.#inside.push(name);
    if (name === 'p:sp') [this.#shape, this.#isHiddenShape] = [this.#slide, false];
    if (name === 'p:cNvPr') this.#isHiddenShape = /^(?:1|true)$/.test(attributes.hidden ?? '');
    if (name === 'p:ph' && attributes.type === 'sldNum') this.#isHiddenShape = true;
    if (name === 'a:p') this.#text = '';
    if (name === 'a:br') this.#text += '\n';
    if (name === 'a:r' || name === 'a:fld') this.#openRun();
    if (name === 'a:rPr') {
      this.#isStruckRun = /^(?:sngStrike|dblStrike)$/.test(attributes.strike ?? '');
      this.#isHiddenRun = Number(attributes.sz ?? tinySize + 1) <= tinySize;
      this.#rise = Math.sign(Number.parseFloat(attributes.baseline ?? '0'));
    }
    this.#inText = name === 'a:t';
    this.#readColor(name, attributes);
    this.#openTable(name, attributes);
  }

  text(part: string): void {
    const isGround = this.#color !== undefined && this.#color === this.#shape;
    if (!this.#inText || this.#isHiddenShape || this.#isHiddenRun || isGround) return;
    if (this.#isStruckRun) this.hasStruck ||= /\S/.test(part);
    else this.#text += part;
  }

  close(name: string): void {
    this.#inside.pop();
    if (name === 'a:t') this.#inText = false;
    if (name === 'a:r' || name === 'a:fld') {
      const before = this.#text.slice(0, this.#runStart);
      const own = this.#text.slice(this.#runStart);
      if (this.#rise !== 0) this.#text = before + markedText(before, own, this.#rise > 0);
      this.#openRun();
    }
    if (name === 'p:sp') [this.#shape, this.#isHiddenShape] = [this.#slide, false];
    if (name === 'a:p' && this.#text.trim() !== '') (this.#table?.texts ?? this.texts).push(this.#text);
    this.#closeTable(name);
  }

  #openRun(): void {
    [this.#isHiddenRun, this.#isStruckRun, this.#color] = [false, false, undefined];
    [this.#rise, this.#runStart] = [0, this.#text.length];
  }

  #openTable(name: string, attributes: Attributes): void {
    if (name === 'a:tbl') this.#table = { rows: [], texts: [], headers: 0 };
    if (!this.#table) return;
    if (name === 'a:tblPr') this.#table.headers = /^(?:1|true)$/.test(attributes.firstRow ?? '') ? 1 : 0;
    if (name === 'a:tr') this.#table.rows.push([]);
    if (name === 'a:tc') [this.#cell, this.#table.texts.length] = [attributes, 0];
  }

  #closeTable(name: string): void {
    if (!this.#table) return;
    if (name === 'a:tc') {
      const { gridSpan = '1', rowSpan = '1', hMerge, vMerge } = this.#cell;
      const isCovered = [hMerge, vMerge].some((merge) => /^(?:1|true)$/.test(merge ?? ''));
      const cell = { text: this.#table.texts.join(' '), columns: Number(gridSpan), rows: Number(rowSpan) };
      if (!isCovered) this.#table.rows.at(-1)?.push(cell);
    }
    if (name !== 'a:tbl') return;
    const { rows, headers } = this.#table;
    this.#table = undefined;
    this.texts.push(...tableTexts(rows, headers));
  }

  /** Notes the colors of the slide, of a shape and of a run. */
  #readColor(name: string, attributes: Attributes): void {
    const [of, fillOf, within] = [this.#inside.at(-4), this.#inside.at(-3), this.#inside.at(-2)];
    if (within === 'p:spPr' && /^a:(?:gradFill|blipFill|pattFill)$/.test(name)) this.#shape = undefined;
    if (within === 'a:solidFill') {
      const value = name === 'a:srgbClr' ? hexOf(attributes.val) : this.#colors.get(attributes.val ?? '');
      if (fillOf === 'p:bgPr') this.#slide = value;
      if (fillOf === 'p:spPr') this.#shape = value;
      if (fillOf === 'a:rPr') this.#color = value;
    }
    if (fillOf === 'a:solidFill' && /^a:lum(?:Mod|Off)$/.test(name)) {
      const part = Number(attributes.val) / 100_000;
      const change = (hex = '') => (name === 'a:lumMod' ? shaded(hex, part, 0) : shaded(hex, 1, part));
      if (of === 'p:bgPr') this.#slide &&= change(this.#slide);
      if (of === 'p:spPr') this.#shape &&= change(this.#shape);
      if (of === 'a:rPr') this.#color &&= change(this.#color);
    }
    if (name === 'a:alpha' && of === 'a:rPr' && Number(attributes.val) === 0) this.#isHiddenRun = true;
  }
}
