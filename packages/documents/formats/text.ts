import { entryIndent } from '../sentences.ts';
import type { Block, Extracted } from './blocks.ts';
import { drawnRows } from './plain/drawn-table.ts';

const headingLengthMax = 100;
const questionLengthMax = 200;
const tabWidth = 8;

/**
 * Plain text: paragraphs between blank lines, without the indentation that all their lines share, and with words whole that were divided
 * at the end of a line. Headings are short lines by themselves that do not end like a sentence, lines above a rule, questions and lines in
 * capitals above indented text, and the names of columns above rows. What is indented below a term, as in manual pages, stays with it.
 */
export function extractText(text: string, { hasHeadings = true } = {}): Extracted {
  if (!hasHeadings) return { blocks: paragraphsOf(text).map((paragraph) => ({ text: paragraph })) };
  const paragraphs = withoutRunningLines(text.split('\f').map(paragraphsOf));
  const manual = manualName(paragraphs);
  const pieces = (manual === undefined ? paragraphs : withoutEdges(paragraphs, manual)).flatMap(
    (paragraph): Paragraph[] => rowsIn(paragraph) ?? divideHeading(toParagraph(paragraph)),
  );
  const blocks: Block[] = [];
  /** The entry that is open, and how far its description is indented. */
  let open: { text: string; inner: number } | undefined;
  for (const [index, piece] of pieces.entries()) {
    const next = pieces[index + 1];
    if (piece.isRow) {
      blocks.push({ text: piece.text });
      open = undefined;
      continue;
    }
    if (open && piece.indent >= open.inner && piece.level === undefined) {
      open.text += `\n\n${indented(piece.text)}`;
      blocks[blocks.length - 1] = { text: open.text };
      continue;
    }
    open = undefined;
    const level = piece.level ?? (next && isHeading(piece, next) ? 2 : undefined);
    if (level !== undefined) {
      blocks.push({ text: piece.text, level });
      continue;
    }
    blocks.push({ text: piece.text });
    const depth = entryIndent(piece.text);
    if (depth !== undefined) open = { text: piece.text, inner: piece.indent + depth };
  }
  return { blocks, title: manual === undefined ? undefined : titleOf(blocks, manual) };
}

function paragraphsOf(text: string): string[] {
  return text
    .split(/\n[^\S\n]*\n/)
    .map((paragraph) => paragraph.replace(/^\n+/, '').trimEnd())
    .filter((paragraph) => paragraph.trim() !== '');
}

/** The paragraphs of pages divided by form feeds, without running headers and footers. */
function withoutRunningLines(pages: readonly (readonly string[])[]): string[] {
  const edges = pages.flatMap((paragraphs) => [paragraphs[0], paragraphs.slice(1).at(-1)]);
  const isRunning = runningLines(edges.filter((edge) => edge !== undefined));
  return pages.flatMap((paragraphs) =>
    paragraphs.filter(
      (paragraph, index) => (index > 0 && index < paragraphs.length - 1) || !isRunning(paragraph),
    ),
  );
}

const pagesMin = 8;

/** Detects running headers and footers: lines that repeat on many pages except for their numbers, and are not sentences. */
export function runningLines(paragraphs: readonly string[]): (paragraph: string) => boolean {
  const formOf = (line: string) => line.replace(/\d+/g, '0').replace(/\s+/g, ' ').trim();
  const counts = new Map<string, number>();
  for (const paragraph of paragraphs) {
    if (paragraph.includes('\n') || !/\d/.test(paragraph) || /[.!?]$/.test(paragraph)) continue;
    counts.set(formOf(paragraph), (counts.get(formOf(paragraph)) ?? 0) + 1);
  }
  return (paragraph) => !paragraph.includes('\n') && (counts.get(formOf(paragraph)) ?? 0) >= pagesMin;
}

/** The name of a manual page, which begins and ends its first line: `CRON(8)`; undefined if a text is none. */
function manualName(paragraphs: readonly string[]): string | undefined {
  return /^(\S+\(\d\w*\))\s.*\s\1$/.exec(paragraphs[0]?.trim() ?? '')?.[1];
}

/** The paragraphs of a manual page without its first line and its last one, which end with its name. */
function withoutEdges(paragraphs: readonly string[], name: string): string[] {
  return paragraphs.filter(
    (paragraph) => paragraph.includes('\n') || !paragraph.endsWith(name) || !/\s{3}\S+$/.test(paragraph),
  );
}

const titleLengthMax = 120;

/** The line of a manual page about itself below NAME: `cron - daemon to execute scheduled commands`; else its name. */
function titleOf(blocks: readonly Block[], name: string): string {
  const at = blocks.findIndex(({ text, level }) => level !== undefined && text === 'NAME');
  const said = blocks[at + 1]?.text.replace(/\s+/g, ' ') ?? '';
  return at !== -1 && said.length <= titleLengthMax && / [-–—] /.test(said) ? said : name;
}

interface Paragraph {
  readonly text: string;
  /** Columns that all its lines are indented by. */
  readonly indent: number;
  readonly level?: number;
  /** A row of a table, with the names of its columns. */
  readonly isRow?: boolean;
}

function rowsIn(paragraph: string): Paragraph[] | undefined {
  return drawnRows(paragraph)?.map((text) => ({ text, indent: 0, isRow: true }));
}

function toParagraph(raw: string): Paragraph {
  const lines = raw.split('\n').map(withoutTabs);
  const indent = Math.min(...lines.filter((line) => line.trim() !== '').map(depthOf));
  const text = joinedWords(lines.map((line) => line.slice(indent).trimEnd()).join('\n')).trim();
  return { text: isTable(text) ? text : withSingleSpaces(text), indent };
}

/** True if values stand in columns below each other. */
function isTable(text: string): boolean {
  const lines = text.split('\n');
  return lines.length > 1 && lines.filter((line) => /\S {4,}\S/.test(line)).length >= lines.length / 2;
}

/** Lines without the spaces that make them equally long. The first may have a term that spaces divide from its explanation. */
function withSingleSpaces(text: string): string {
  const lines = text.split('\n');
  const hasTerm = entryIndent(text) !== undefined;
  return lines
    .map((line, index) => (hasTerm && index === 0 ? line : line.replace(/(?<=\S) {2,}/g, ' ')))
    .join('\n');
}

function withoutTabs(line: string): string {
  let plain = '';
  for (const [index, part] of line.split('\t').entries()) {
    if (index > 0) plain += ' '.repeat(tabWidth - (plain.length % tabWidth));
    plain += part;
  }
  return plain;
}

function depthOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Words that a hyphen divides at the end of a line. */
function joinedWords(text: string): string {
  return text.replace(/(?<=^|[\s("“‘])(\p{L}{2,})[-\u2010]\n( *)(\p{Ll}\S*) */gmu, '$1$3\n$2');
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}

/** A heading at the start of a paragraph, and the text below it. */
function divideHeading(paragraph: Paragraph): Paragraph[] {
  const { text, indent } = paragraph;
  const below = (length: number) => {
    const rest = text.slice(length);
    if (rest.trim() === '') return [];
    const inner = toParagraph(rest);
    return divideHeading({ text: inner.text, indent: indent + inner.indent });
  };
  const underlined = /^(\S.{0,99})\n *([=\-~^"'#*+])\2{2,}(?:\n|$)/.exec(text);
  if (underlined) {
    const level = underlined[2] === '=' || underlined[2] === '#' ? 1 : 2;
    return [{ text: underlined[1] ?? '', level, indent }, ...below(underlined[0].length)];
  }
  // The names of sections in manual pages stand in capitals above text that is indented.
  const capitals =
    indent <= subsectionIndent && /^([\p{Lu}][\p{Lu}\p{N} ,/()&-]{2,60})\n(?= {2})/u.exec(text);
  if (capitals)
    return [{ text: capitals[1] ?? '', level: indent === 0 ? 1 : 2, indent }, ...below(capitals[0].length)];
  const group = /^(\p{Lu}[^\n]{1,60}[\p{L}\p{N}):])\n(?= {2})/u.exec(text);
  if (group && entryIndent(toParagraph(text.slice(group[0].length)).text) !== undefined)
    return [{ text: group[1] ?? '', level: 2, indent }, ...below(group[0].length)];
  const columns = /^(#.{3,200})\n(?=(?:#.*\n)*[^#\s])/.exec(text);
  if (columns && signsIn(columns[1] ?? '').some((sign) => text.slice(text.lastIndexOf('\n')).includes(sign)))
    return [{ text: (columns[1] ?? '').replace(/^#\s*/, ''), level: 3, indent }, ...below(columns[0].length)];
  return [paragraph];
}

/** Columns that the names of subsections in manual pages are indented by, at most; terms stand further to the right. */
const subsectionIndent = 4;

function signsIn(line: string): string[] {
  return [':', ';', ',', '|', '\t'].filter((sign) => line.includes(sign));
}

function isHeading({ text, indent }: Paragraph, next: Paragraph): boolean {
  if (indent > next.indent || !/^[\p{Lu}\p{N}\p{Lo}]/u.test(text) || !/\p{L}/u.test(text)) return false;
  if (/\?$/.test(text))
    return text.length <= questionLengthMax && (indent < next.indent || /^\d+(\.\d+)*\.? /.test(text));
  if (text.length > headingLengthMax || text.includes('\n') || /\S[:;|]\S/.test(text)) return false;
  return !/[.!?,;:…。！？)\]"”]$/u.test(text) && text.split(/\s+/).length <= 12;
}
