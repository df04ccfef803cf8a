import { getDocumentProxy } from 'unpdf';
import { unreadable } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Block, Extracted } from './blocks.ts';
import { type Area, unseenAreas } from './pdf-unseen.ts';
import { runningLines } from './text.ts';

/** A line of a page: its text, where it is, and how large its letters are. */
interface Line {
  readonly text: string;
  readonly y: number;
  readonly height: number;
}

/** The paragraphs of each page. Lines in much larger letters than most are headings. */
export async function extractPdf(bytes: Uint8Array): Promise<Extracted> {
  // First, as the other library takes the bytes away.
  const unseen = await unseenAreas(bytes, limits.pagesMax);
  const pdf = await open(bytes);
  try {
    if (pdf.numPages > limits.pagesMax) {
      throw unreadable(`A document must have at most ${limits.pagesMax} pages.`);
    }
    const pages: Line[][] = [];
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const hidden = unseen?.[number - 1] ?? [];
      pages.push(linesOf((items as readonly TextItem[]).filter((item) => !isWithin(item, hidden))));
      page.cleanup();
    }
    const body = usualHeight(pages.flat());
    const isRunning = runningLines(pages.flatMap((lines) => edgesOf(lines)).map(({ text }) => text));
    for (const [index, lines] of pages.entries()) {
      const edges = new Set(edgesOf(lines));
      pages[index] = lines.filter((line) => !edges.has(line) || !isRunning(line.text));
    }
    const blocks = pages.flatMap((lines, index) => paragraphsOf(lines, body, index + 1));
    const warnings = [...warningsFor(pages), ...(unseen ? [] : [unseenUnknown])];
    return { blocks, pages: pdf.numPages, warnings };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

const unseenUnknown = 'Text in the color of its ground could not be told from other text.';

/** Says which part of the pages has no text, if it is more than covers and blank pages are. */
function warningsFor(pages: readonly (readonly Line[])[]): string[] {
  const empty = pages.filter((lines) => lines.length === 0).length;
  if (empty === pages.length) return ['The pages have no text; scanned pages are not read.'];
  if (empty * 3 <= pages.length) return [];
  return [`${empty} of ${pages.length} pages have no text; scanned pages are not read.`];
}

/** The first and the last lines of a page, which may be on every page. */
function edgesOf(lines: readonly Line[]): Line[] {
  return [...lines.slice(0, 2), ...lines.slice(2).slice(-2)];
}

async function open(bytes: Uint8Array) {
  try {
    return await getDocumentProxy(ownBytes(bytes), { verbosity: 0 });
  } catch (cause) {
    const isLocked = cause instanceof Error && cause.name === 'PasswordException';
    throw unreadable(
      isLocked ? 'The file is protected by a password.' : 'The file is not a readable PDF.',
      cause,
    );
  }
}

/** The bytes, not copied if they are all of their buffer, and no `Buffer`, which the library refuses. */
function ownBytes({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length);
}

interface TextItem {
  readonly str?: string;
  readonly transform?: readonly number[];
  readonly height?: number;
  readonly hasEOL?: boolean;
}

/** Returns true for a text that begins in one of the areas. */
function isWithin({ str = '', transform }: TextItem, areas: readonly Area[]): boolean {
  const [x = 0, y = 0] = transform?.slice(4) ?? [];
  if (str.trim() === '') return false;
  return areas.some(
    ({ left, bottom, right, top }) =>
      x >= left - edgeMax && x <= right + edgeMax && y >= bottom - edgeMax && y <= top + edgeMax,
  );
}

/** Letters begin so far from the edge of their text. */
const edgeMax = 2;
/** Size up to which a text is too small to see. */
const tinyPoints = 1;

function linesOf(items: readonly TextItem[]): Line[] {
  const lines: Line[] = [];
  let [text, y, height] = ['', 0, 0];
  const end = () => {
    if (text.trim() !== '') lines.push({ text: text.replace(/\s+/g, ' ').trim(), y, height });
    [text, height] = ['', 0];
  };
  for (const item of items) {
    if (item.str === undefined || (item.str.trim() !== '' && (item.height ?? 0) <= tinyPoints)) continue;
    const at = item.transform?.[5] ?? y;
    // Some files have no line ends, only places.
    if (text !== '' && item.str !== '' && Math.abs(at - y) > Math.max(height, 4) * 0.8) end();
    if (item.str !== '') y = at;
    text += item.str;
    height = Math.max(height, item.height ?? 0);
    if (item.hasEOL) end();
  }
  end();
  return lines;
}

/** The height of most letters. */
function usualHeight(lines: readonly Line[]): number {
  const counts = new Map<number, number>();
  for (const { text, height } of lines) {
    const rounded = Math.round(height * 2) / 2;
    counts.set(rounded, (counts.get(rounded) ?? 0) + text.length);
  }
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
}

function paragraphsOf(lines: readonly Line[], body: number, page: number): Block[] {
  const blocks: { text: string; level?: number; page: number }[] = [];
  let before: Line | undefined;
  for (const line of lines) {
    const isHeading = body > 0 && line.height >= body * 1.2 && line.text.length <= 120;
    const last = blocks.at(-1);
    const isNear =
      before !== undefined && Math.abs(before.y - line.y) <= Math.max(line.height, before.height) * 1.7;
    if (isHeading) {
      const level = line.height >= body * 1.6 ? 1 : 2;
      if (last?.level === level && isNear) last.text += ` ${line.text}`;
      else blocks.push({ text: line.text, level, page });
    } else if (last && last.level === undefined && isNear) {
      last.text = joined(last.text, line.text);
    } else {
      blocks.push({ text: line.text, page });
    }
    before = line;
  }
  return blocks;
}

/** Two lines of a paragraph, with a word that was divided at the end of a line as one. */
function joined(text: string, line: string): string {
  return /\p{Ll}-$/u.test(text) && /^\p{Ll}/u.test(line) ? text.slice(0, -1) + line : `${text} ${line}`;
}
