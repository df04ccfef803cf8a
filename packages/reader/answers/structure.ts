import {
  entryIndent,
  entryTerm,
  hasRows,
  paragraphsOf,
  recordsOf,
  type Span,
  sentencesOf,
} from '@octavo/documents';

/** A sentence or a row of a passage, with the context that it needs. Offsets are in the passage. */
export interface Unit extends Span {
  readonly text: string;
  /** The paragraph, the row with what is above it in its table, or the whole entry of a term. */
  readonly place: Span;
  /** The term that it explains, as an option of a manual page. */
  readonly term: string;
  /** The term with all of its explanation. */
  readonly entry: Span | undefined;
  readonly kind: 'sentence' | 'row' | 'point';
}

/** Values with the names of their columns. */
const describedRow = /^[^:;\n]{1,60}: [^;\n]*(?:; [^:;\n]{1,60}: [^;\n]*)+$/;
/** A point of a list, with a sign or its number. */
const point = /^\s*(?:[-*•‣o+]|\(?(?:\d+(?:\.\d+)*|[a-z]|(?=[ivxl])(?:xl|l?x{0,3})(?:i[xv]|v?i{0,3}))[.)])\s/;
const leaders = /(?:\. ?){6,}/;

/** The sentences and rows of a passage in their order. */
export function unitsOf(text: string): Unit[] {
  const units: Unit[] = [];
  let entry: { term: string; start: number; end: number } | undefined;
  for (const paragraph of paragraphsOf(text)) {
    const own = text.slice(paragraph.start, paragraph.end);
    const margin = paragraph.start - text.lastIndexOf('\n', paragraph.start - 1) - 1;
    const term = termOf(own, margin);
    const isInside = entry !== undefined && margin >= 2 && term === undefined;
    if (!isInside)
      entry = term === undefined ? undefined : { term, start: paragraph.start, end: paragraph.end };
    // Units of an entry share it, so it grows with each paragraph.
    if (entry) entry.end = paragraph.end;
    const isPoint = point.test(own) || entry !== undefined;
    const kind = hasRows(own) || describedRow.test(own) ? 'row' : isPoint ? 'point' : 'sentence';
    for (const { start, end } of sentencesOf(text, paragraph)) {
      // Lines of a table of contents say nothing by themselves.
      if (leaders.test(text.slice(start, end))) continue;
      const place =
        kind === 'row'
          ? { start, end }
          : { start: entry && !isInside ? entry.start : paragraph.start, end: paragraph.end };
      units.push({
        start,
        end,
        text: text.slice(start, end),
        place,
        term: entry?.term ?? '',
        entry,
        kind,
      });
    }
    for (const record of recordsOf(text, paragraph))
      units.push({
        ...none,
        ...record,
        text: text.slice(record.start, record.end),
        place: record,
        kind: 'row',
      });
  }
  return units;
}

/** The term that a paragraph explains, whose lines but for the first may be indented by a margin. */
function termOf(paragraph: string, margin: number): string | undefined {
  const text = margin === 0 ? paragraph : paragraph.replaceAll(`\n${' '.repeat(margin)}`, '\n');
  return entryIndent(text) === undefined ? undefined : entryTerm(text);
}

const none = { term: '', entry: undefined } as const;
