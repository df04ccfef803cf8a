import { Type } from '@octavo/core';
import { type Accounts, getProfile, type SignedIn } from '../authentication/index.ts';
import {
  type Budget,
  createBudget,
  deleteBudget,
  getBudget,
  listPlans,
  type PlannedBudget,
  parseBudgetInput,
  parseBudgetPatch,
  updateBudget,
} from '../budgets/index.ts';
import type { Context } from '../commands.ts';
import { createParser } from '../edges/schema-parser.ts';
import {
  createExpense,
  deleteExpense,
  type Expense,
  listExpenses,
  parseExpenseInput,
  parseExpensePatch,
  updateExpense,
} from '../expenses/index.ts';
import { followFrom, type NotificationHub, stoppable } from '../feed/index.ts';
import { listNotifications, type Notification, readNotification } from '../notifications/index.ts';
import { parseSearchRequest, searchExpenses } from '../search/index.ts';
import type { Loaders } from './loaders.ts';
import type { MutationCallers } from './mutation-callers.ts';

/** Context of every resolver. */
export interface GraphqlContext {
  readonly context: Context;
  readonly accounts: Accounts;
  readonly hub: NotificationHub;
  readonly caller: SignedIn;
  readonly loaders: Loaders;
  readonly commanders: MutationCallers;
}

type Arguments = Readonly<Record<string, unknown>>;

export const queries = {
  budgets: async (_: unknown, given: Arguments, { context, caller }: GraphqlContext) => {
    const { first: limit, after } = parsePage(withDefaults(given, 100));
    return listPlans(context, caller, { limit, afterId: after });
  },
  budget: (_: unknown, { id }: Arguments, { context, caller }: GraphqlContext) =>
    getBudget(context, caller, String(id)),
  expenses: async (_: unknown, { budgetId, ...given }: Arguments, { context, caller }: GraphqlContext) => {
    const { first: limit, after } = parsePage(withDefaults(given, 100));
    const page = { limit, afterId: after, budgetId: textOrNothing(budgetId) };
    return (await listExpenses(context, caller, page)).items;
  },
  searchExpenses: (_: unknown, given: Arguments, { context, caller }: GraphqlContext) =>
    searchExpenses(context, caller, parseSearchRequest(withoutNulls(given))),
  notifications: async (_: unknown, { unread, ...given }: Arguments, { context, caller }: GraphqlContext) => {
    const { first: limit } = parsePage(withDefaults(given, 50));
    return (await listNotifications(context, caller, { limit, unread: unread === true })).items;
  },
  me: (_: unknown, _given: Arguments, { accounts, caller }: GraphqlContext) => getProfile(accounts, caller),
};

export const mutations = {
  createBudget: (_: unknown, { input }: Arguments, { context, commanders }: GraphqlContext) =>
    createBudget(context, commanders.next(), parseBudgetInput(inLowerCase(withoutNulls(input)))),
  updateBudget: (_: unknown, { id, input, version }: Arguments, { context, commanders }: GraphqlContext) =>
    updateBudget(context, commanders.next(), String(id), {
      ...parseBudgetPatch(inLowerCase(withoutNulls(input))),
      ...versionsOf(version),
    }),
  deleteBudget: async (_: unknown, { id, cascade }: Arguments, { context, commanders }: GraphqlContext) =>
    (await deleteBudget(context, commanders.next(), String(id), { cascade: cascade === true })).id,
  addExpense: (_: unknown, { input }: Arguments, { context, commanders }: GraphqlContext) =>
    createExpense(context, commanders.next(), parseExpenseInput(inLowerCase(withoutNulls(input)))),
  updateExpense: (_: unknown, { id, input, version }: Arguments, { context, commanders }: GraphqlContext) =>
    updateExpense(context, commanders.next(), String(id), {
      ...parseExpensePatch(inLowerCase(withoutNulls(input, ['category', 'budgetId']))),
      ...versionsOf(version),
    }),
  deleteExpense: async (_: unknown, { id }: Arguments, { context, commanders }: GraphqlContext) =>
    (await deleteExpense(context, commanders.next(), String(id))).id,
  markNotificationRead: (_: unknown, { id }: Arguments, { context, commanders }: GraphqlContext) =>
    readNotification(context, commanders.next(), String(id)),
};

export const subscriptions = {
  notificationAdded: {
    subscribe: (_: unknown, { afterSeq }: Arguments, { context, hub, caller }: GraphqlContext) =>
      stoppable((signal) =>
        followFrom({ context, hub }, caller, { afterSeq: numberOrNothing(afterSeq), signal }),
      ),
    resolve: (notification: Notification) => notification,
  },
  budgetChanged: {
    subscribe: async (_: unknown, { id }: Arguments, parts: GraphqlContext) => {
      const wanted = textOrNothing(id);
      if (wanted !== undefined) await getBudget(parts.context, parts.caller, wanted);
      return stoppable((signal) => changedBudgets(parts, wanted, signal));
    },
    resolve: (budget: Budget) => budget,
  },
};

export const budgetFields = {
  limitMinor: ({ limitMinor }: PlannedBudget) => String(limitMinor),
  period: ({ period }: PlannedBudget) => period.toUpperCase(),
  rollover: ({ rollover }: PlannedBudget) => rollover.toUpperCase(),
  role: ({ role }: PlannedBudget) => role.toUpperCase(),
  spent: async ({ id, spent }: PlannedBudget, { period }: Arguments, { loaders }: GraphqlContext) =>
    typeof period === 'string'
      ? (await loaders.spending.load({ budgetId: id, period })).spent
      : (spent ?? (await loaders.budget.load(id)).spent),
  remaining: async ({ id, remaining }: PlannedBudget, { period }: Arguments, { loaders }: GraphqlContext) =>
    typeof period === 'string'
      ? (await loaders.spending.load({ budgetId: id, period })).remaining
      : (remaining ?? (await loaders.budget.load(id)).remaining),
  expenses: async ({ id }: PlannedBudget, given: Arguments, { loaders }: GraphqlContext) => {
    const { first, after } = parsePage(withDefaults(given, 20));
    const { edges, hasMore, total } = await loaders.expenses.load({ budgetId: id, first, after });
    const pageInfo = { hasNextPage: hasMore, endCursor: edges.at(-1)?.cursor ?? null };
    return { edges, pageInfo, totalCount: total };
  },
};

export const expenseFields = {
  amountMinor: ({ amountMinor }: Expense) => String(amountMinor),
  kind: ({ kind }: Expense) => kind.toUpperCase(),
  budget: ({ budgetId }: Expense, _: Arguments, { loaders }: GraphqlContext) =>
    budgetId === null ? null : loaders.budget.load(budgetId),
};

/** A budget after each event that changes it or its spending. */
async function* changedBudgets(
  { context, hub, caller }: GraphqlContext,
  id: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Budget> {
  for await (const { type, data } of followFrom({ context, hub }, caller, { afterSeq: undefined, signal })) {
    const { id: ownId, budgetId } = data as { id?: string; budgetId?: string | null };
    const changed = type.startsWith('expense.') ? budgetId : ownId;
    const isChange = type.startsWith('expense.') || type === 'budget.created' || type === 'budget.updated';
    if (!isChange || !changed || (id !== undefined && changed !== id)) continue;
    const budget = await getBudget(context, caller, changed).catch(() => undefined);
    // It may have been deleted.
    if (budget) yield budget;
  }
}

const pageSizeMax = 500;
const Page = Type.Object({
  first: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
  after: Type.Optional(Type.String({ minLength: 1, format: 'text' })),
});
const parsePageOf = createParser(Page);

/** Parses the page; more than 500 are 500. */
function parsePage(given: Arguments): { first: number; after: string | undefined } {
  const { first, after } = parsePageOf(given);
  return { first: Math.min(first, pageSizeMax), after };
}

function withDefaults(given: Arguments, first: number): Arguments {
  return { first, ...(withoutNulls(given) as Arguments) };
}

/** Null means left out, except where it clears a field. */
function withoutNulls(given: unknown, clearing: readonly string[] = []): unknown {
  return Object.fromEntries(
    Object.entries(given as Arguments).filter(([name, value]) => value !== null || clearing.includes(name)),
  );
}

/** The enums, as the rules have them. */
function inLowerCase(given: unknown): unknown {
  const enums = ['period', 'rollover', 'kind'];
  return Object.fromEntries(
    Object.entries(given as Arguments).map(([name, value]) => [
      name,
      enums.includes(name) ? String(value).toLowerCase() : value,
    ]),
  );
}

function versionsOf(version: unknown) {
  return typeof version === 'number' ? { versions: [version] } : {};
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOrNothing(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
