import type { ToolCalls } from './calls.ts';
import { type Condition, textCondition } from './question/conditions.ts';
import type { Finding, Order, Query } from './question/query.ts';
import type { ApiRecord } from './trace.ts';

/** A call whose records are to be narrowed. */
export interface Listing {
  readonly tool: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly parent?: number | undefined;
  /** Conditions beside those of the question. */
  readonly more?: readonly Condition[];
}

const pageRows = 100;

/** Lists records under the conditions of a question. Conditions that the API cannot filter by are applied here. Undefined if the API failed. */
export async function findRecords(
  calls: ToolCalls,
  query: Query,
  { tool, params = {}, reason, parent, more = [] }: Listing,
): Promise<Finding | undefined> {
  const wanted = [...more, ...query.conditions, ...(query.sectors ? [query.sectors] : [])];
  const asked = { ...params, ...Object.assign({}, ...wanted.map((each) => each.params)) };
  const rows: { record: ApiRecord; step: number }[] = [];
  const steps: number[] = [];
  for (let isLast = false; !isLast; ) {
    const offset = steps.length > 0 ? { offset: rows.length } : {};
    const called = await calls.call(tool, { ...asked, limit: pageRows, ...offset }, { reason, parent });
    const { step, status, truncated } = called.step;
    if (status === 'error' || status === 'skipped') {
      if (steps.length === 0) return undefined;
      break;
    }
    steps.push(step);
    rows.push(...called.rows.map((record) => ({ record, step })));
    isLast = !truncated || called.rows.length === 0 || !calls.hasBudget;
  }
  const last = calls.trace.find(({ step }) => step === steps.at(-1));
  const narrowed = narrow(rows, wanted, query.rest);
  return {
    kind: query.kind ?? 'investments',
    ...narrowed,
    rows: query.order ? ordered(narrowed.rows, query.order) : narrowed.rows,
    steps,
    isWhole: !last?.truncated,
    order: query.order,
    isCount: query.isCount,
    isTotal: query.isTotal,
    isAverage: query.isAverage,
    unapplied: [...query.unknown, ...narrowed.unapplied],
  };
}

function narrow<R extends { readonly record: ApiRecord }>(
  all: readonly R[],
  wanted: readonly Condition[],
  rest: readonly string[],
): { rows: R[]; conditions: Condition[]; unapplied: string[] } {
  const conditions: Condition[] = [];
  const unapplied: string[] = [];
  let rows = [...all];
  for (const condition of wanted) {
    const told = rows.map((row) => condition.matches(row.record));
    const isTold = rows.length === 0 || told.some((each) => each !== undefined);
    if (!isTold && !condition.params) unapplied.push(condition.label);
    else {
      conditions.push(condition);
      if (isTold) rows = rows.filter((_, index) => told[index] === true);
    }
  }
  for (const written of rest) {
    const condition = textCondition(written);
    const matching = rows.filter(({ record }) => condition.matches(record));
    if (matching.length === 0) unapplied.push(written);
    else {
      conditions.push(condition);
      rows = matching;
    }
  }
  return { rows, conditions, unapplied };
}

/** Those that the order wants; equals of the last one are named too. */
function ordered<R extends { readonly record: ApiRecord }>(
  rows: readonly R[],
  { field, isDescending, count, skip }: Order,
): R[] {
  const sortValue = ({ record }: R) => {
    const value = record[field];
    return Array.isArray(value) ? value.length : (value as string | number | null | undefined);
  };
  const known = rows.filter((row) => sortValue(row) !== undefined && sortValue(row) !== null);
  const compare = (one: R, other: R) => {
    const [a, b] = [sortValue(one) ?? 0, sortValue(other) ?? 0];
    return (a < b ? -1 : a > b ? 1 : 0) * (isDescending ? -1 : 1);
  };
  const sorted = known.toSorted(compare);
  const last = sorted[skip + count - 1];
  return sorted.filter(
    (row, index) => index >= skip && (index < skip + count || (last && compare(row, last) === 0)),
  );
}
