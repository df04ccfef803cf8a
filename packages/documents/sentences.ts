/** A part of a text, in UTF-16 units; `end` is the index after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Short forms after which a sentence goes on. */
const shortForms = new Set(
  'mr mrs ms dr prof st jr sr vs etc inc ltd co corp no fig figs eq vol pp ed eds al approx ca cf dept est gen gov capt col lt sgt rev hon pres sen rep jan feb mar apr jun jul aug sep sept oct nov dec e.g i.e u.s u.k p.m a.m'.split(
    ' ',
  ),
);
// A run of stops is tried once, from its first one, or a long run would take quadratic time.
const sentenceEnd =
  /(?<![.!?…])[.!?…]+["'”’)\]]*(?=\s)|[。！？]["'”’）」』]*|\n\s*\n|\n(?=\s*(?:[-*•‣]|\d+[.)])\s)/gu;

/** The sentences of a text, without the white space around them. Blank lines, points of lists and rows of tables end them too. */
export function sentencesOf(
  text: string,
  { start: from, end: to }: Span = { start: 0, end: text.length },
): Span[] {
  return paragraphsOf(text.slice(from, to)).flatMap(({ start, end }) => {
    const span = { start: from + start, end: from + end };
    return hasRows(text.slice(span.start, span.end)) ? linesOf(text, span) : sentencesIn(text, span);
  });
}

/** The parts of a text between blank lines, without the white space around them. */
export function paragraphsOf(text: string): Span[] {
  const spans: Span[] = [];
  let start = 0;
  for (const match of text.matchAll(/\n\s*\n/g)) {
    push(spans, text, { start, end: match.index }, 0);
    start = match.index + match[0].length;
  }
  push(spans, text, { start, end: text.length }, 0);
  return spans;
}

const rowLinesMin = 3;
/** Share of the lines that must look like rows. */
const rowShare = 0.7;
const row = /^\s*[\p{L}\p{N}][^.:=]{0,40}\s*[:=]\s*\S|\S {4,}\S/u;
const divider = /[:;|\t]/g;

/** Returns true if each line of a paragraph is a row: values in columns, values between the same signs, or a name with its value. */
export function hasRows(paragraph: string): boolean {
  const lines = paragraph.split('\n');
  if (lines.length < rowLinesMin)
    return lines.length > 1 && lines.every((line) => /^\s*[-*\u2022] /.test(line));
  // Indented lines below a term are text.
  if (/^\S.*\n( {2,}\S.*(\n|$))+$/.test(paragraph)) return false;
  const counts = lines.map((line) => line.match(divider)?.length ?? 0).sort((one, other) => one - other);
  const usual = counts[counts.length >> 1] ?? 0;
  const even = counts.filter((count) => count > 0 && count === usual).length;
  return Math.max(even, lines.filter((line) => row.test(line)).length) >= lines.length * rowShare;
}

function linesOf(text: string, { start, end }: Span): Span[] {
  const spans: Span[] = [];
  let from = start;
  while (from < end) {
    const stop = text.indexOf('\n', from);
    const to = stop === -1 || stop > end ? end : stop;
    push(spans, text.slice(0, end), { start: from, end: to }, 0);
    from = to + 1;
  }
  return spans;
}

function sentencesIn(text: string, { start: from, end: to }: Span): Span[] {
  const spans: Span[] = [];
  const part = text.slice(from, to);
  let start = 0;
  for (const match of part.matchAll(sentenceEnd)) {
    const end = match.index + match[0].length;
    if (match[0].startsWith('.') && goesOn(part, start, match.index, end)) continue;
    push(spans, part, { start, end }, from);
    start = end;
  }
  push(spans, part, { start, end: part.length }, from);
  return spans;
}

/** The number of a point or paragraph: `2`, `2.3`, `b`, `iv`, also after a bracket. */
const label = /^\(?(?:\d{1,3}(?:\.\d{1,3})*|\p{L}|(?=[ivxl])(?:xl|l?x{0,3})(?:i[xv]|v?i{0,3}))\)?$/iu;

function goesOn(text: string, start: number, dot: number, end: number): boolean {
  const isAtLineStart = start === 0 || /^\s*\n/.test(text.slice(start - 1, start + 4));
  if (isAtLineStart && dot - start < 20 && label.test(text.slice(start, dot).trim())) return true;
  const word = /[\p{L}\p{N}.]*$/u.exec(text.slice(Math.max(start, dot - 12), dot))?.[0] ?? '';
  if (shortForms.has(word.toLowerCase())) return true;
  // An initial, as in "J. Smith"; and a sentence never goes on in lower case.
  if (/^\p{Lu}$/u.test(word)) return true;
  return /^\s+\p{Ll}/u.test(text.slice(end, end + 4)) && !/\n/.test(text.slice(end, end + 2));
}

function push(spans: Span[], text: string, span: Span, offset: number): void {
  const part = text.slice(span.start, span.end);
  const trimmed = part.trim();
  if (trimmed === '') return;
  const start = offset + span.start + part.indexOf(trimmed);
  spans.push({ start, end: start + trimmed.length });
}

const entry = /^\S.{0,150}(?:\n\S.{0,150}){0,4}\n( {2,})\S/;

/** A sentence that goes on in the next line is no term, though a chunk that begins with it lacks its indentation. */
const goesOnBelow =
  /^(?:\S+ ){5,}(?:\S+\n {2,}\p{Ll}|\S*,\n|(?:a|an|and|are|as|at|by|for|from|if|in|is|of|on|or|that|the|to|was|with)\n)/u;

/** Columns that the text below a term is indented by, as in manual pages; undefined if a text is no such entry. */
export function entryIndent(text: string): number | undefined {
  const match = entry.exec(text);
  if (!match || goesOnBelow.test(text)) return undefined;
  return match[1]?.length;
}

/** The term above or before an explanation, as in manual pages; undefined if a text is no such entry. */
export function entryTerm(text: string): string | undefined {
  const depth = entryIndent(text);
  if (depth === undefined) return undefined;
  const above = text.slice(0, text.search(/\n {2}/));
  return above.split(/ {2,}/, 1)[0];
}
