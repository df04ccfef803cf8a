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

/** The sentences of a text, without the white space around them. Blank lines and points of lists end them too. */
export function sentencesOf(
  text: string,
  { start: from, end: to }: Span = { start: 0, end: text.length },
): Span[] {
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

function goesOn(text: string, start: number, dot: number, end: number): boolean {
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
