import { toMajor } from '@octavo/documents/values';
import {
  type Budget,
  createBudget,
  listBudgets,
  noBudget,
  transferChoice,
  transferTag,
} from '../../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../../commands.ts';
import {
  bulkMax,
  changeRows,
  type ExpenseWithBudget,
  filteredRows,
  keepMade,
  type Made,
  unchangedRows,
} from '../../expenses/index.ts';
import { createTask, type Tasks } from '../../tasks/index.ts';
import { comparable, payeeOf } from '../matching.ts';
import { type Rule, rulesMax } from '../rule.ts';
import { createRule, listRules } from '../rules.ts';

const payeesMax = 50;
const pageRows = 1_000;
const budgetsMax = 500;

/** Unassigned expenses of one payee in one currency. */
export interface PayeeGroup {
  readonly payee: string;
  readonly currency: string;
  readonly expenses: number;
  readonly minor: number;
  /** Months in which there are some, as `2026-02`. */
  readonly months: ReadonlySet<string>;
  /** The category, if all of them have the same one. */
  readonly category: string | null;
}

/** The payees of the unassigned expenses, the most frequent first, 50 at most. */
export async function unassignedPayees(context: Context, caller: Caller): Promise<PayeeGroup[]> {
  const rows: ExpenseWithBudget[] = [];
  for await (const slice of unassigned(context, caller)) rows.push(...slice);
  return Map.groupBy(rows, keyOf)
    .values()
    .toArray()
    .flatMap((same) => groupOf(same) ?? [])
    .sort((a, b) => b.expenses - a.expenses || b.minor - a.minor)
    .slice(0, payeesMax);
}

/** The budget of a payee, by the name that was typed: one that is there, or a new one. */
export interface PayeeChoice {
  readonly payee: string;
  readonly currency: string;
  readonly budget: string;
}

export interface Sorting {
  readonly budgets: readonly Budget[];
  /** Number of those that are new. */
  readonly created: number;
  /** Number of expenses that were changed. */
  readonly changed: number;
  /** Undo token of that; null if tasks change them. */
  readonly undo: string | null;
}

/**
 * Puts payees into budgets: makes budgets that are not there, by the month and with what was spent in one as limit, a rule for each, and
 * changes the unassigned expenses. Sent twice, it makes nothing twice.
 */
export async function sortPayees(
  tasks: Tasks,
  caller: Caller,
  choices: readonly PayeeChoice[],
): Promise<Sorting> {
  const { context } = tasks;
  const groups = await unassignedPayees(context, caller);
  const { items: known } = await listBudgets(context, caller, { limit: budgetsMax, isOwn: true });
  const { items: rules } = await listRules(context, caller, { limit: rulesMax });
  const places = new Map<string, Place>();
  const steps: Step[] = [];
  for (const same of Map.groupBy(choices, placeOf).values()) {
    const keys = same.map(keyOfChoice);
    const [first] = same as [PayeeChoice];
    const isTransfer = comparable(first.budget) === comparable(transferChoice.name);
    const found = isTransfer ? undefined : known.find((budget) => isNamed(budget, first));
    const among = groups.filter((group) => keys.includes(keyOfChoice(group)));
    const budget = isTransfer
      ? undefined
      : (found ?? (await addBudget(context, caller, { choice: first, among })));
    const rule = await addRule(context, caller, { rules, budget, payees: same.map(({ payee }) => payee) });
    const made = {
      budgets: budget && !found ? [{ id: budget.id, version: budget.version }] : [],
      rules: rules.includes(rule) ? [] : [rule],
    };
    steps.push({ budget, rule, made });
    for (const key of keys) places.set(key, budget ? budget.id : transferChoice);
  }
  const budgets = steps.flatMap(({ budget }) => budget ?? []);
  const created = steps.flatMap(({ made }) => made.budgets).length;
  if (groups.reduce((sum, { expenses }) => sum + expenses, 0) > bulkMax) {
    for (const { rule, made } of steps) {
      const task = await createTask(tasks, caller, { type: 'rule', ruleId: rule.id });
      await runCommand(context, caller, (transaction) => keepMade(transaction, task.id, made));
    }
    return { budgets, created, changed: 0, undo: null };
  }
  const found = await filteredRows(context, caller.owner, { budgetId: noBudget }, { limit: bulkMax });
  const work = (transaction: AccountTransaction) => assign(transaction, places, { found, steps });
  return { budgets, created, ...(await runCommand(context, caller, work, { alone: true })) };
}

/** The id of a budget, or a transfer. */
type Place = string | typeof transferChoice;

/** One budget, its rule, and those of both that are new. */
interface Step {
  /** Absent for transfers. */
  readonly budget: Budget | undefined;
  readonly rule: Rule;
  readonly made: Made;
}

async function assign(
  transaction: AccountTransaction,
  places: ReadonlyMap<string, Place>,
  { found, steps }: { readonly found: readonly ExpenseWithBudget[]; readonly steps: readonly Step[] },
): Promise<Pick<Sorting, 'changed' | 'undo'>> {
  const rows = await unchangedRows(transaction.session, transaction.owner, found);
  const changes = rows.flatMap((before) => {
    const place = places.get(keyOf(before));
    if (place === undefined) return [];
    const tags = [...(JSON.parse(before.tags) as string[]), transferTag];
    return [{ before, patch: typeof place === 'string' ? { budgetId: place } : { tags } }];
  });
  const budgets = steps.flatMap(({ made }) => made.budgets);
  const rules = steps.flatMap(({ made }) => made.rules);
  const { changed, undo } = await changeRows(transaction, changes, {
    to: steps.map(({ budget }) => budget?.name ?? transferChoice.name).join(', '),
    ...(budgets.length + rules.length > 0 && { made: { budgets, rules } }),
  });
  return { changed, undo };
}

async function* unassigned(context: Context, { owner, signal }: Caller): AsyncGenerator<ExpenseWithBudget[]> {
  for (let after = -1; ; ) {
    signal?.throwIfAborted();
    const rows = await filteredRows(context, owner, { budgetId: noBudget }, { after, limit: pageRows });
    yield rows;
    if (rows.length < pageRows) return;
    after = rows.at(-1)?.number ?? after;
  }
}

/** Undefined for a payee that no rule could name, such as an accent alone. */
function groupOf(rows: readonly ExpenseWithBudget[]): PayeeGroup | undefined {
  const [first] = rows;
  if (!first || comparable(payeeOf(first.description)) === '') return undefined;
  const { category } = first;
  return {
    payee: payeeOf(first.description),
    currency: first.currency,
    expenses: rows.length,
    minor: rows.reduce((sum, { amount_minor }) => sum + amount_minor, 0),
    months: new Set(rows.map(({ spent_on }) => spent_on.slice(0, 7))),
    category: rows.every((row) => row.category === category) ? category : null,
  };
}

function keyOf({ description, currency }: ExpenseWithBudget): string {
  return keyOfChoice({ payee: payeeOf(description), currency });
}

function keyOfChoice({ payee, currency }: Pick<PayeeChoice, 'payee' | 'currency'>): string {
  return `${currency} ${comparable(payee)}`;
}

function placeOf({ budget, currency }: PayeeChoice): string {
  return `${currency} ${comparable(budget)}`;
}

function isNamed({ name, currency }: Budget, choice: PayeeChoice): boolean {
  return placeOf({ ...choice, budget: name, currency }) === placeOf(choice);
}

function addBudget(
  context: Context,
  caller: Caller,
  { choice, among }: { choice: PayeeChoice; among: readonly PayeeGroup[] },
): Promise<Budget> {
  const { budget: name, currency } = choice;
  const months = new Set(among.flatMap((group) => [...group.months])).size || 1;
  const minor = among.reduce((sum, group) => sum + group.minor, 0) / months;
  const limit = Math.max(10, Math.ceil(toMajor(Math.round(minor), currency) / 10) * 10);
  return createBudget(context, caller, { name, limit, currency, period: 'monthly' });
}

/** Returns the rule, also if it is there already among `rules`. */
async function addRule(
  context: Context,
  caller: Caller,
  {
    rules,
    budget,
    payees,
  }: { rules: readonly Rule[]; budget: Budget | undefined; payees: readonly string[] },
): Promise<Rule> {
  const conditions = [{ field: 'payee' as const, op: 'oneOf' as const, value: [...payees] }];
  const same = rules.find(
    (rule) =>
      rule.set.budgetId === budget?.id &&
      rule.transfer === (budget === undefined) &&
      JSON.stringify(rule.conditions) === JSON.stringify(conditions),
  );
  const effect = budget ? { set: { budgetId: budget.id } } : { transfer: true };
  return same ?? createRule(context, caller, { conditions, ...effect });
}
