import { AppError } from '@octavo/core';
import { requireBudget } from '../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import {
  type BulkResult,
  bulkMax,
  changeRows,
  type Expense,
  type ExpenseWithBudget,
  lastExpense,
  madeFor,
  toExpense,
  tokenOfSlice,
  unchangedRows,
  undoOfSlices,
} from '../expenses/index.ts';
import { createTask, type RunningTask, type Task, type TaskKind, type Tasks } from '../tasks/index.ts';
import { type ApplyResult, type RuleDefinition, toRule } from './rule.ts';
import { changeBy, RuleSet } from './rule-set.ts';
import { requireRule } from './rules.ts';
import { takeBackSorting } from './sorting/undo.ts';
import { expensesAfter } from './store.ts';

/** Expenses that are read at once. */
const pageRows = 1_000;
/** Expenses of one transaction of a task. */
const sliceRows = 200;

/**
 * Applies a rule to the expenses that are there, and fills in what is empty: those with another budget or category keep it. A dry run counts
 * only. If the rule fits more than 1,000, a task does it.
 */
export async function applyRule(
  tasks: Tasks,
  caller: Caller,
  id: string,
  { dryRun = false }: { readonly dryRun?: boolean | undefined },
): Promise<ApplyResult | Task> {
  const { context } = tasks;
  const rule = toRule(await requireRule(context.db, caller.owner, id));
  const currency = await currencyOf(context, caller, rule);
  const matches = await matchesOf(context, caller, rule);
  const found = matches.filter((row) => changeBy(rule, row, currency) !== undefined);
  if (dryRun) return { matched: matches.length, changed: found.length, undo: null };
  if (matches.length > bulkMax) return createTask(tasks, caller, { type: 'rule', ruleId: id });
  const { changed, undo } = await runCommand(
    context,
    caller,
    (transaction) => changeFound(transaction, found, { rule, currency }),
    { alone: true },
  );
  return { matched: matches.length, changed, undo };
}

interface Effect {
  readonly rule: RuleDefinition;
  readonly currency: string | undefined;
  /** Undo token of the change; a new one by default. */
  readonly token?: string;
}

/** Changes the expenses that are as they were when the rule was found to fit them. */
async function changeFound(
  transaction: AccountTransaction,
  found: readonly ExpenseWithBudget[],
  { rule, currency, token }: Effect,
): Promise<BulkResult> {
  const rows = await unchangedRows(transaction.session, transaction.owner, found);
  return changeRows(
    transaction,
    rows.map((before) => ({ before, patch: changeBy(rule, before, currency) })),
    { token },
  );
}

/** Outcome of a rule for the expenses that are there. */
export interface Trial {
  /** The first that it fits, the newest first. */
  readonly shown: readonly Expense[];
  readonly matched: number;
  /** Number of those that it would change. */
  readonly open: number;
  /** Number of all expenses. */
  readonly tried: number;
}

const shownMax = 10;

/** Tries a rule on all expenses. */
export async function tryRule(context: Context, caller: Caller, rule: RuleDefinition): Promise<Trial> {
  const currency = await currencyOf(context, caller, rule).catch(() => undefined);
  let tried = 0;
  const matches = await matchesOf(context, caller, rule, (rows) => {
    tried += rows;
  });
  const open = matches.filter((row) => changeBy(rule, row, currency) !== undefined).length;
  const shown = matches.slice(-shownMax).reverse().map(toExpense);
  return { shown, matched: matches.length, open, tried };
}

/** All expenses that a rule fits, the oldest first. */
async function matchesOf(
  context: Context,
  caller: Caller,
  rule: RuleDefinition,
  onRead: (rows: number) => void = () => {},
): Promise<ExpenseWithBudget[]> {
  const matches: ExpenseWithBudget[] = [];
  for await (const { fitting, read } of slicesOf(context, caller, rule, { rows: pageRows })) {
    onRead(read);
    matches.push(...fitting);
  }
  return matches;
}

interface Slice {
  /** Expenses that the rule fits. */
  readonly fitting: readonly ExpenseWithBudget[];
  /** Number of all expenses of the slice. */
  readonly read: number;
  /** The number of the last one. */
  readonly after: number;
}

/** All expenses after a number in slices, the oldest first. */
async function* slicesOf(
  { db }: Context,
  { owner, signal }: Caller,
  rule: RuleDefinition,
  { rows, after = -1 }: { readonly rows: number; readonly after?: number },
): AsyncGenerator<Slice, void> {
  const rules = await RuleSet.of([rule]);
  for (let last = after; ; ) {
    signal?.throwIfAborted();
    const found = await expensesAfter(db, { owner, after: last, limit: rows });
    const fitting: ExpenseWithBudget[] = [];
    for (const row of found) if (await rules.fits(row)) fitting.push(row);
    last = found.at(-1)?.number ?? last;
    yield { fitting, read: found.length, after: last };
    if (found.length < rows) return;
  }
}

/** The currency of the budget that a rule gives. Throws `conflict` if it was deleted. */
async function currencyOf(
  { db }: Context,
  { owner }: Caller,
  { set: { budgetId } }: RuleDefinition,
): Promise<string | undefined> {
  if (budgetId === undefined) return undefined;
  const budget = await requireBudget(db, owner, budgetId).catch((error: unknown) => {
    const isGone = error instanceof AppError && error.code === 'not_found';
    throw isGone ? new AppError('conflict', 'The budget of this rule was deleted.') : error;
  });
  return budget.currency;
}

interface Plan {
  readonly rule: RuleDefinition;
}

/** Progress of a task: the number of the last expense, and the counts so far. */
interface Partial {
  readonly after: number;
  readonly matched: number;
  readonly changed: number;
}

/** Applies a rule to all expenses, in slices. One that is cut off goes on where it was. */
export const ruleTask: TaskKind = {
  async prepare({ db }, { owner }, { ruleId }) {
    if (ruleId === undefined) throw invalid({ ruleId: 'is required' });
    const { conditions, match, set, transfer } = toRule(await requireRule(db, owner, ruleId));
    return { input: { rule: { conditions, match, set, transfer } } satisfies Plan };
  },
  async run({ context, caller, taskId, input, partial, advance }: RunningTask) {
    const { rule } = input as Plan;
    const currency = await currencyOf(context, caller, rule);
    const last = (await lastExpense(context.db, caller.owner))?.number ?? 0;
    let done = (partial as Partial | undefined) ?? { after: -1, matched: 0, changed: 0 };
    for await (const slice of slicesOf(context, caller, rule, { rows: sliceRows, after: done.after })) {
      const { after, fitting } = slice;
      const token = tokenOfSlice(taskId, done.after);
      done = await runCommand(
        context,
        caller,
        async (transaction) => {
          const { changed } = await changeFound(transaction, fitting, { rule, currency, token });
          const next = { after, matched: done.matched + fitting.length, changed: done.changed + changed };
          await advance((100 * (after + 1)) / (last + 1), next, transaction.session);
          return next;
        },
        { alone: true },
      );
    }
    return { matched: done.matched, changed: done.changed };
  },
  undo: {
    some: undoOfSlices.some,
    async end(transaction, taskId) {
      const ended = await undoOfSlices.end(transaction, taskId);
      const made = await madeFor(transaction, taskId);
      return made ? { ...ended, made: await takeBackSorting(transaction, made) } : ended;
    },
  },
};
