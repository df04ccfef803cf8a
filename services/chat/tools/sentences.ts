import type { ToolCalls } from './calls.ts';
import type { Finding } from './question/query.ts';
import { type DataKind, dataKinds } from './trace.ts';
import { type ApiQuote, money, type Place, Writer } from './writer.ts';

const describedMax = 2;

/** Writes the results of a turn's calls as sentences that hold nothing but their values, each with its `[An]`. */
export function apiSentences(calls: ToolCalls, startAt = 0): { text: string; citations: ApiQuote[] } {
  const writer = new Writer(startAt);
  const told = new Set<string>();
  const written = new Set<Finding>();
  for (const step of calls.trace) {
    const finding = calls.findings.find(({ steps }) => steps.includes(step.step));
    if (finding && !written.has(finding)) {
      written.add(finding);
      for (const { record } of finding.rows) told.add(calls.pointerOf(record) ?? '');
      writeFinding(writer, calls, finding);
    }
    if (finding || step.status !== 'ok' || calls.told.has(step.step)) continue;
    const places = calls.placesOf(step.step).filter(({ pointer }) => !told.has(pointer));
    const isList = places.length > describedMax;
    for (const { pointer } of places) told.add(pointer);
    if (isList) writer.list(step, countOf(kindOf(places), places.length, step.truncated), places);
    else for (const place of places) writer.describe(step, place);
  }
  return { text: writer.text, citations: writer.citations };
}

const nouns = {
  team: ['person', 'people'],
  investments: ['investment', 'investments'],
  sectors: ['sector', 'sectors'],
  countries: ['country', 'countries'],
} as const;

/** Number and kind of the records, and the conditions. */
function writeFinding(writer: Writer, calls: ToolCalls, finding: Finding): void {
  const { kind, rows, steps, unapplied, conditions } = finding;
  const step = { step: steps.at(-1) ?? 1 };
  const notice = noticeOf(unapplied);
  // Without any condition that could be applied, a list would be no answer.
  const isUseless = notice !== '' && conditions.length === 0;
  const places = rows.map((row) => ({ ...row, pointer: calls.pointerOf(row.record) ?? '' }));
  if (isUseless) writer.plain(notice);
  else if (rows.length === 0) writer.plain(`There ${headingOf(finding)}.`);
  else if (rows.length <= describedMax && !finding.isCount && kind !== 'countries')
    for (const place of places) writer.describe(place, place);
  else if (kind === 'countries') {
    const countries = new Map(places.map((place) => [place.record.country, place]));
    const options = { name: 'country', most: countries.size };
    writer.list(step, countOf(kind, countries.size, false), [...countries.values()], options);
  } else {
    const fields = [...new Set(conditions.flatMap(({ shows }) => shows ?? []))];
    writer.list(step, headingOf(finding), places, { fields });
    if (finding.isSum) writeSum(writer, finding, step);
  }
  if (notice !== '' && !isUseless) writer.plain(notice);
  if (!finding.isWhole && !isUseless) writer.plain('There may be more, as not all records were looked at.');
}

/** The amount of all records together, where they are all there and in one currency; else says that there is none. */
function writeSum(writer: Writer, { rows, isWhole }: Finding, step: { readonly step: number }): void {
  const [currency, ...others] = new Set(rows.map(({ record }) => record.currency));
  const amounts = rows.map(({ record }) => record.amount_minor);
  const isTold = amounts.every((amount) => typeof amount === 'number') && others.length === 0;
  if (isTold && isWhole) {
    const sum = amounts.reduce((total, amount) => total + amount, 0);
    writer.begin(`Together ${money(sum, currency)}`);
    writer.end(step);
  } else writer.plain('They were not added up, as the data does not tell all amounts in one currency.');
}

/** "4 active investments in Germany"; for none "are no active investments in Germany". */
function headingOf({ kind, rows, conditions, isWhole }: Finding): string {
  const labels = (isAdjective: boolean) =>
    conditions.filter((each) => (each.isAdjective ?? false) === isAdjective).map(({ label }) => label);
  return [countOf(kind, rows.length, !isWhole, labels(true)), ...labels(false)].join(' ');
}

function countOf(
  kind: Finding['kind'],
  count: number,
  hasMore: boolean,
  adjectives: readonly string[] = [],
): string {
  const number = count === 0 ? 'are no' : `${count}${hasMore ? ' or more' : ''}`;
  return [number, ...adjectives, nouns[kind][count === 1 ? 0 : 1]].join(' ');
}

function kindOf([first]: readonly Place[]): DataKind {
  return dataKinds.find((kind) => first?.pointer.startsWith(`/${kind}/`)) ?? 'investments';
}

function noticeOf(unapplied: readonly string[]): string {
  if (unapplied.length === 0) return '';
  const parts = unapplied.map((each) => `“${each.replaceAll('[', '(').replaceAll(']', ')')}”`);
  return `The data does not tell ${parts.join(' and ')}, so that could not be applied.`;
}
