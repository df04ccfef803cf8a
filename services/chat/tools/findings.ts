import type { ToolCalls } from './calls.ts';
import { type Condition, textCondition } from './question/conditions.ts';
import type { Finding, Query } from './question/query.ts';
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
    steps,
    isWhole: !last?.truncated,
    isCount: query.isCount,
    isSum: query.isSum,
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
