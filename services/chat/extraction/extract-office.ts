import { Parser } from 'htmlparser2';
import { unreadable } from '../errors.ts';
import { checkArchive, readArchive } from './archive.ts';
import type { Block, Extracted } from './blocks.ts';
import { extractHtml } from './extract-html.ts';
import { rowBlocks } from './extract-table.ts';

export async function extractWord(bytes: Uint8Array): Promise<Extracted> {
  checkArchive(bytes);
  const { default: mammoth } = await import('mammoth');
  const skipImages = mammoth.images.imgElement(async () => ({ src: '' }));
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const { value } = await mammoth.convertToHtml({ buffer }, { convertImage: skipImages });
  return extractHtml(value);
}

/** Each row of each sheet, with the names of its columns; the name of a sheet is a heading. */
export function extractSpreadsheet(bytes: Uint8Array): Extracted {
  const members = readArchive(bytes, (name) =>
    /^xl\/(workbook|sharedStrings|worksheets\/[^/]+)\.xml$/.test(name),
  );
  const shared = sharedTexts(members.get('xl/sharedStrings.xml') ?? '');
  const names = attributesOf(members.get('xl/workbook.xml') ?? '', 'sheet', 'name');
  const sheets = [...members.keys()].filter((name) => name.includes('worksheets/')).sort(byNumber);
  const blocks = sheets.flatMap((name, index): Block[] => [
    { text: names[index] ?? `Sheet ${index + 1}`, level: 1 },
    ...rowBlocks(rowsOf(members.get(name) ?? '', shared)),
  ]);
  return { blocks };
}

/** Slides in their order; the first line of each is a heading. */
export function extractSlides(bytes: Uint8Array): Extracted {
  const members = readArchive(bytes, (name) => /^ppt\/(slides|notesSlides)\/[^/]+\.xml$/.test(name));
  const slides = [...members.keys()].filter((name) => name.startsWith('ppt/slides/')).sort(byNumber);
  const blocks = slides.flatMap((name, index): Block[] => {
    const page = index + 1;
    const paragraphs = paragraphsOf(members.get(name) ?? '', 'a:p', 'a:t');
    const notes = paragraphsOf(members.get(`ppt/notesSlides/notesSlide${page}.xml`) ?? '', 'a:p', 'a:t');
    return [...paragraphs, ...notes].map((text, place) => ({ text, page, ...(place === 0 && { level: 1 }) }));
  });
  return { blocks, pages: slides.length };
}

/** An OpenDocument text: headings and paragraphs. */
export function extractOpenText(bytes: Uint8Array): Extracted {
  const content = readArchive(bytes, (name) => name === 'content.xml').get('content.xml');
  if (content === undefined) throw unreadable('The file is not an OpenDocument text.');
  const blocks: Block[] = [];
  let [text, level] = ['', 0];
  readXml(content, {
    open(name, attributes) {
      if (name === 'text:h') level = Number(attributes['text:outline-level'] ?? 1);
      if (name === 'text:h' || name === 'text:p') text = '';
      if (name === 'text:s' || name === 'text:tab') text += ' ';
      if (name === 'text:line-break') text += '\n';
    },
    text(part) {
      text += part;
    },
    close(name) {
      if (name !== 'text:h' && name !== 'text:p') return;
      blocks.push(level > 0 ? { text, level } : { text });
      [text, level] = ['', 0];
    },
  });
  return { blocks };
}

function sharedTexts(xml: string): string[] {
  return paragraphsOf(xml, 'si', 't', true);
}

function rowsOf(xml: string, shared: readonly string[]): string[][] {
  const rows: string[][] = [];
  let [column, type, value, isValue] = [0, '', '', false];
  readXml(xml, {
    open(name, attributes) {
      if (name === 'row') rows.push([]);
      if (name === 'c') [column, type, value] = [columnOf(attributes.r ?? ''), attributes.t ?? '', ''];
      isValue = name === 'v' || name === 't';
    },
    text(part) {
      if (isValue) value += part;
    },
    close(name) {
      isValue = false;
      if (name !== 'c') return;
      const row = rows.at(-1) ?? [];
      while (row.length < Math.min(column, columnsMax)) row.push('');
      if (column < columnsMax) row[column] = type === 's' ? (shared[Number(value)] ?? '') : value;
    },
  });
  return rows;
}

const columnsMax = 1_000;

/** The number of a column by the name of a cell: 0 for `A1`, 27 for `AB7`. */
function columnOf(cell: string): number {
  const letters = /^[A-Z]+/.exec(cell)?.[0] ?? 'A';
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

/** The text of each element `outer`, which is in its elements `inner`. */
function paragraphsOf(xml: string, outer: string, inner: string, keepsEmpty = false): string[] {
  const texts: string[] = [];
  let [text, isInside] = ['', false];
  readXml(xml, {
    open(name) {
      if (name === outer) text = '';
      isInside = name === inner;
    },
    text(part) {
      if (isInside) text += part;
    },
    close(name) {
      if (name === inner) isInside = false;
      if (name === outer && (keepsEmpty || text.trim() !== '')) texts.push(text);
    },
  });
  return texts;
}

function attributesOf(xml: string, element: string, attribute: string): string[] {
  const values: string[] = [];
  readXml(xml, {
    open(name, attributes) {
      if (name === element) values.push(attributes[attribute] ?? '');
    },
  });
  return values;
}

interface XmlHandlers {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(part: string): void;
  close?(name: string): void;
}

function readXml(xml: string, { open, text, close }: XmlHandlers): void {
  const handlers = { onopentag: open, ontext: text, onclosetag: close };
  new Parser(handlers, { xmlMode: true, decodeEntities: true }).end(xml);
}

function byNumber(one: string, other: string): number {
  return Number(/(\d+)\.xml$/.exec(one)?.[1] ?? 0) - Number(/(\d+)\.xml$/.exec(other)?.[1] ?? 0);
}
