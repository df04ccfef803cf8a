import { type Column, type Row, type Segment, segmentsOf } from './rows.ts';
import type { Rule } from './rules.ts';

/** Names of the columns of a table that stand in lines above it. */
export interface ColumnNames {
  /** By column; the first one may have none. */
  readonly texts: readonly string[];
  /** The lines that were read, and lines between them and the table that divide it, such as "Men". */
  readonly lines: readonly Row[];
  readonly parts: readonly Row[];
}

const linesMax = 8;
const lengthMax = 60;
/** Distance between lines of names, and to the table, in heights. */
const lineGapMax = 2.2;
/** Share of a column, or of a text, by which the text stands above the column. */
const overMin = 0.5;
/** Share of the height of a line from which a gap divides names of columns, which may stand closer than values. */
const nameGap = 0.5;
/** Share of the width of a table from which a line ends its names. */
const wholeMin = 0.8;
/** Share of the width of columns by which a name that they share may be off their middle. */
const offCenterMax = 0.15;
/** Names are not much larger than each other. */
const largerMax = 1.15;

/** A number with at most a unit, a sign for no value, or a usual short one. */
const value = /^(?:[^\p{L}]*\d[^\p{L}]*\p{L}{0,3}[^\p{L}\d]*|[-–—.*†‡#]+|(?:n\/?a|ref\.?|yes|no|x)\s*)$/iu;
const year = /^(?:19|20)\d\d(?:\s*[-–/]\s*(?:19|20)?\d\d)?$/;

/** True for a row whose cells are mostly numbers but for the first. */
export function isOfNumbers({ segments }: Row): boolean {
  const others = segments.slice(1);
  return others.filter(({ text }) => value.test(text)).length > others.length / 2;
}

/** The first row of numbers, below those that may name their columns; undefined for a table of texts. */
export function firstOfNumbers(rows: readonly Row[]): number | undefined {
  const isYears = ({ segments }: Row) => segments.slice(1).every(({ text }) => year.test(text));
  const at = rows.findIndex((row, index) => {
    const next = rows[index + 1];
    return isOfNumbers(row) && !(isYears(row) && next && !isYears(next));
  });
  if (at < 0) return undefined;
  const body = rows.slice(at).filter(({ segments }) => segments.length > 1);
  return body.filter(isOfNumbers).length >= body.length * 0.8 ? at : undefined;
}

const sampleSize = /^\(?n\s*=/i;

interface Name {
  readonly text: string;
  /** True for one above several columns. */
  readonly isShared: boolean;
}

/**
 * The names of columns in the lines above their first row, the nearest line first. Names of several lines join, and one that stands above
 * several columns is before theirs: `Price / winter`. Undefined unless each column but the first has a name of its own.
 */
export function namesAbove(
  above: readonly Row[],
  {
    columns,
    first,
    rules,
  }: { readonly columns: readonly Column[]; readonly first: Row; readonly rules: readonly Rule[] },
): ColumnNames | undefined {
  const reach = columns.map(({ left, right }) => ({ left, right }));
  const names: Name[][] = columns.map(() => []);
  const [lines, parts]: [Row[], Row[]] = [[], []];
  const shared = new Set<boolean>();
  let below = first;
  for (const row of above.slice(0, linesMax)) {
    if (row.y - below.y > Math.max(row.height, below.height) * lineGapMax) break;
    const drawn = (line: Row) => rules.filter(({ at }) => at < row.y && at > line.y + line.height / 2);
    const isEnd =
      lines.length > 0 && (row.height > below.height * largerMax || isWhole(drawn(below), columns));
    const nearest = lines[0] ? drawn(lines[0]).toSorted((one, other) => other.at - one.at) : [];
    const places = isEnd ? undefined : placesOf(namesIn(row), { reach, rules: nearest });
    if (!places) break;
    const isOfFirst = places.every(({ last }) => last === 0);
    const named = names.slice(1).filter((each) => each.length > 0).length;
    if (isOfFirst && named === names.length - 1) break;
    below = row;
    if (isOfFirst && named === 0) {
      parts.unshift(row);
      continue;
    }
    if (lines.length === 0 && places.some(({ from, last }) => last > from)) return undefined;
    lines.push(row);
    for (const { from, last, isDrawn } of places) if (last > from) shared.add(isDrawn);
    for (const { segment, from, last } of places)
      for (let column = from; column <= last; column++) {
        names[column]?.unshift({ text: segment.text, isShared: last > from });
        const own = reach[column];
        if (last === from && own) {
          own.left = Math.min(own.left, segment.left);
          own.right = Math.max(own.right, segment.right);
        }
      }
  }
  const texts = names.map((each) =>
    each.reduce(
      (text, { text: next }, index) =>
        text === '' ? next : `${text}${each[index - 1]?.isShared ? ' / ' : ' '}${next}`,
      '',
    ),
  );
  const isNamed = texts.slice(1).every((text) => /\p{L}|\d{4}|%/u.test(text));
  // Where lines are drawn below names that columns share, all of them have one.
  const isCertain = isNamed && new Set(texts).size === texts.length && shared.size < 2;
  return isCertain ? { texts, lines, parts } : undefined;
}

interface PlacedName {
  readonly segment: Segment;
  readonly from: number;
  readonly last: number;
  /** True if a line that is drawn tells its columns. */
  readonly isDrawn: boolean;
}

function namesIn({ segments, height }: Row): Segment[] {
  return segmentsOf(
    segments.flatMap(({ items }) => items),
    height * nameGap,
  );
}

/** True if lines that are drawn reach over the whole table. */
function isWhole(rules: readonly Rule[], columns: readonly Column[]): boolean {
  const [left, right] = [columns[0]?.left ?? 0, columns.at(-1)?.right ?? 0];
  return [...Map.groupBy(rules, ({ at }) => Math.round(at)).values()].some((each) => {
    const length = each.reduce(
      (sum, { from, to }) => sum + Math.max(0, Math.min(to, right) - Math.max(from, left)),
      0,
    );
    return length >= (right - left) * wholeMin;
  });
}

/**
 * The columns that each text of a line stands above; undefined if that is not certain for one. Lines that are drawn below a text reach over
 * the columns that share it.
 */
function placesOf(
  segments: readonly Segment[],
  { reach, rules }: { readonly reach: readonly Column[]; readonly rules: readonly Rule[] },
): PlacedName[] | undefined {
  const places: PlacedName[] = [];
  for (const segment of segments) {
    const isValue = value.test(segment.text) && !year.test(segment.text) && !sampleSize.test(segment.text);
    if (segment.text.length > lengthMax || isValue) return undefined;
    const rule = rules.find(({ from, to }) => from <= segment.left + slack && to >= segment.right - slack);
    const under = rule && { left: rule.from, right: rule.to };
    const over = reach.flatMap((column, index) => {
      const middle = (column.left + column.right) / 2;
      const isUnder = under ? middle >= under.left && middle <= under.right : isOver(segment, column);
      return isUnder ? [index] : [];
    });
    const [from = zoneOf(segment, reach)] = over;
    const last = over.at(-1) ?? from;
    if (from === undefined || last === undefined || from <= (places.at(-1)?.last ?? -1)) return undefined;
    // What begins above the first column and goes on over others is a title.
    if (from === 0 && last > 0) return undefined;
    if (!rule && last > from && !isCentered(segment, reach.slice(from, last + 1))) return undefined;
    places.push({ segment, from, last, isDrawn: rule !== undefined });
  }
  return places;
}

const slack = 2;

/** True for a text above the middle of columns. */
function isCentered({ left, right }: Segment, columns: readonly Column[]): boolean {
  const [start, end] = [columns[0]?.left ?? 0, columns.at(-1)?.right ?? 0];
  return Math.abs(left + right - start - end) / 2 <= (end - start) * offCenterMax;
}

function isOver(segment: Segment, { left, right }: Column): boolean {
  const shared = Math.min(segment.right, right) - Math.max(segment.left, left);
  return shared >= Math.min(right - left, segment.right - segment.left) * overMin;
}

/** The column in whose part of the page a text stands that is not above any values. */
function zoneOf({ left, right }: Segment, reach: readonly Column[]): number | undefined {
  const middle = (index: number) => ((reach[index]?.right ?? 0) + (reach[index + 1]?.left ?? 0)) / 2;
  const found = reach.findIndex(
    (_, index) =>
      (index === 0 || left >= middle(index - 1)) && (index === reach.length - 1 || right <= middle(index)),
  );
  return found < 0 ? undefined : found;
}
