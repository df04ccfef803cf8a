import { countryName } from '@octavo/reader/conditions';
import type { ToolCalls } from './calls.ts';
import type { Finding } from './question/query.ts';
import { type ApiQuote, listedMax, shownAs, Writer } from './writer.ts';

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
    if (isList) writer.list(step, places);
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
  const { kind, rows, steps, unapplied } = finding;
  const step = { step: steps.at(-1) ?? 1 };
  const notice = noticeOf(unapplied);
  // Without any condition that could be applied, a list would be no answer.
  const isUseless = notice !== '' && finding.conditions.length === 0;
  if (isUseless) writer.plain(notice);
  else if (kind === 'countries') writeCountries(writer, calls, finding);
  else if (rows.length === 0) writer.plain(`There ${headingOf(finding, 0)}.`);
  else if (rows.length <= describedMax && !finding.isCount)
    for (const { record, step: from } of rows)
      writer.describe(traceOf(calls, from), { record, pointer: calls.pointerOf(record) ?? '' });
  else {
    writer.begin(`${headingOf(finding, rows.length)}: `);
    const shown = rows.slice(0, listedMax);
    const fields = [...new Set(finding.conditions.flatMap(({ shows }) => shows ?? []))];
    shown.forEach(({ record, step: from }, index) => {
      if (index > 0) writer.text += index === rows.length - 1 ? ' and ' : ', ';
      const place = { record, pointer: calls.pointerOf(record) ?? '' };
      writer.value({ step: from }, place, 'company' in record ? 'company' : 'name');
      const details = fields.filter((field) => ['string', 'number'].includes(typeof record[field]));
      for (const [at, field] of details.entries()) {
        const before = at === 0 ? ' (' : ', ';
        writer.value({ step: from }, place, field, { before, shown: shownAs(field, record) });
      }
      if (details.length > 0) writer.text += ')';
    });
    writer.end(step, rows.length > shown.length ? ` and ${rows.length - shown.length} more` : '');
  }
  if (notice !== '' && !isUseless) writer.plain(notice);
  if (!finding.isWhole && !isUseless) writer.plain('There may be more, as not all records were looked at.');
}

function writeCountries(writer: Writer, calls: ToolCalls, finding: Finding): void {
  const groups = Map.groupBy(finding.rows, ({ record }) => String(record.country ?? ''));
  groups.delete('');
  const shown = [...groups].sort(([, one], [, other]) => other.length - one.length);
  writer.begin(`${shown.length} ${nouns.countries[shown.length === 1 ? 0 : 1]}: `);
  shown.forEach(([country, rows], index) => {
    if (index > 0) writer.text += index === shown.length - 1 ? ' and ' : ', ';
    const [first] = rows;
    if (first)
      writer.value(
        { step: first.step },
        { record: first.record, pointer: calls.pointerOf(first.record) ?? '' },
        'country',
        {
          shown: () => countryName(country),
        },
      );
    writer.text += ` (${rows.length})`;
  });
  writer.end({ step: finding.steps.at(-1) ?? 1 });
}

/** "4 active seed investments in Germany"; for none "are no active investments in Germany". */
function headingOf({ kind, conditions, isWhole }: Finding, count: number): string {
  const labels = (isAdjective: boolean) =>
    conditions.filter((each) => (each.isAdjective ?? false) === isAdjective).map(({ label }) => label);
  const noun = nouns[kind][count === 1 ? 0 : 1];
  const number = count === 0 ? 'are no' : `${count}${isWhole ? '' : ' or more'}`;
  return [number, ...labels(true), noun, ...labels(false)].filter((each) => each !== '').join(' ');
}

function noticeOf(unapplied: readonly string[]): string {
  if (unapplied.length === 0) return '';
  const parts = unapplied.map((each) => `“${each.replaceAll('[', '(').replaceAll(']', ')')}”`);
  return `The data does not tell ${parts.join(' and ')}, so that could not be applied.`;
}

function traceOf(calls: ToolCalls, step: number) {
  return calls.trace.find((each) => each.step === step) ?? { step };
}
