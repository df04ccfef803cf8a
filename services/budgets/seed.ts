import { readFileSync } from 'node:fs';
import type { Clock } from '@octavo/core';
import { AppError, isoDay } from '@octavo/core';
import { type BudgetInput, createBudget, listBudgets } from './budgets/index.ts';
import type { Caller, Context } from './commands.ts';
import { type CustomerInput, createCustomer, listCustomers } from './customers/index.ts';
import { createExpense, listExpenses } from './expenses/index.ts';
import { readNotifications } from './notifications/index.ts';
import { createOrder, listOrders, type OrderInput, updateOrder } from './orders/index.ts';
import { createRecurring, listRecurring, type RecurringInput } from './recurring/index.ts';
import { createRule, listRules, type RuleInput } from './rules/index.ts';

interface SeedBudget extends BudgetInput {
  readonly category: string;
  /** Days between two expenses. */
  readonly every: number;
  /** The amounts of single expenses, from and to. */
  readonly from: number;
  readonly to: number;
  readonly descriptions: readonly string[];
}

interface SeedOrder {
  readonly customer: string;
  readonly daysAgo: number;
  readonly steps: readonly ('completed' | 'shipped' | 'delivered')[];
  readonly items: OrderInput['items'];
}

interface Seed {
  readonly budgets: readonly SeedBudget[];
  readonly recurring: readonly (Omit<RecurringInput, 'budgetId'> & { readonly budget: string })[];
  readonly customers: readonly CustomerInput[];
  readonly orders: readonly SeedOrder[];
  readonly rules: readonly RuleInput[];
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const spanDays = 90;
const unreadDays = 2;
const limit = 500;

/** Adds the missing demo data, as entered in the last 90 days. Returns the number of added expenses. */
export async function seedBudgets(context: Context, caller: Caller): Promise<number> {
  const seed: Seed = JSON.parse(readFileSync(new URL('./seed.json', import.meta.url), 'utf8'));
  const nowMs = context.clock.now();
  const clock = new SeedClock(nowMs - spanDays * dayMs);
  const past: Context = { ...context, clock };
  const ids = await seedPlans(past, caller, seed.budgets);
  // Before the others, so that what was missed since its start does not stand above them.
  clock.set(nowMs - (unreadDays + 1) * dayMs);
  await seedRecurring(past, caller, { seed, ids, start: isoDay(nowMs - spanDays * dayMs) });
  await seedRules(past, caller, seed.rules);
  const added = await seedExpenses(past, caller, { seed, ids, clock, nowMs });
  await seedOrders(past, caller, { seed, clock, nowMs });
  return added;
}

/** Gives the demo data to an account that has no budgets. */
export async function seedEmptyAccount(context: Context, caller: Caller): Promise<void> {
  const { items } = await listBudgets(context, caller, { limit: 1, isOwn: true });
  if (items.length === 0) await seedBudgets({ ...context, onCommitted: () => {} }, caller);
}

/** Commands happen at the time that it was set to. */
class SeedClock implements Clock {
  #nowMs: number;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  set(nowMs: number): void {
    this.#nowMs = nowMs;
  }
}

async function seedPlans(
  context: Context,
  caller: Caller,
  budgets: readonly SeedBudget[],
): Promise<Map<string, string>> {
  const { items } = await listBudgets(context, caller, { limit, isOwn: true });
  const ids = new Map(items.map(({ id, name }) => [name, id]));
  for (const { name, limit, currency, period, rollover } of budgets) {
    if (ids.has(name)) continue;
    const { id } = await createBudget(context, caller, { name, limit, currency, period, rollover });
    ids.set(name, id);
  }
  return ids;
}

async function seedRules(context: Context, caller: Caller, rules: readonly RuleInput[]): Promise<void> {
  const { items } = await listRules(context, caller, { limit });
  const known = new Set(items.map(({ conditions: [first] }) => first?.value));
  for (const rule of rules.filter(({ contains }) => contains === undefined || !known.has(contains)))
    await createRule(context, caller, rule);
}

interface Loading {
  readonly seed: Seed;
  readonly clock: SeedClock;
  readonly nowMs: number;
}

async function seedRecurring(
  context: Context,
  caller: Caller,
  {
    seed,
    ids,
    start,
  }: { readonly seed: Seed; readonly ids: ReadonlyMap<string, string>; readonly start: string },
): Promise<void> {
  const { items } = await listRecurring(context, caller, { limit });
  const known = new Set(items.map(({ description }) => description));
  for (const { budget, ...recurring } of seed.recurring) {
    if (known.has(recurring.description)) continue;
    await createRecurring(context, caller, { ...recurring, budgetId: ids.get(budget) as string, start });
  }
}

/** Adds expenses in the order of their days. Existing ones are recognized by id. */
async function seedExpenses(
  context: Context,
  caller: Caller,
  { seed, ids, clock, nowMs }: Loading & { readonly ids: ReadonlyMap<string, string> },
): Promise<number> {
  const known = await knownIds(context, caller);
  let added = 0;
  for (let daysAgo = spanDays; daysAgo >= 0; daysAgo--) {
    if (daysAgo === unreadDays) await readNotifications(context, caller);
    for (const [number, budget] of seed.budgets.entries()) {
      const externalId = `demo-${number}-${daysAgo}`;
      if ((daysAgo + number) % budget.every !== 0 || known.has(externalId)) continue;
      clock.set(Math.min(nowMs, nowMs - (nowMs % dayMs) - daysAgo * dayMs + (8 + number) * hourMs));
      const spentOn = isoDay(clock.now());
      const expense = { ...expenseOf(budget, daysAgo), budgetId: ids.get(budget.name) as string, spentOn };
      if (await tryAdd(context, caller, { ...expense, externalId })) added++;
    }
  }
  return added;
}

/** False if another process has added it. */
async function tryAdd(context: Context, caller: Caller, expense: Parameters<typeof createExpense>[2]) {
  try {
    await createExpense(context, caller, expense);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return false;
    throw error;
  }
}

async function knownIds(context: Context, caller: Caller): Promise<Set<string | null>> {
  const ids = new Set<string | null>();
  for (let cursor: string | undefined, isLast = false; !isLast; ) {
    const page = await listExpenses(context, caller, { limit, cursor });
    for (const { externalId } of page.items) ids.add(externalId);
    cursor = page.next;
    isLast = cursor === undefined;
  }
  return ids;
}

/** Returns an expense that is always the same for one day, and differs from those around it. */
function expenseOf({ descriptions, category, from, to }: SeedBudget, daysAgo: number) {
  const share = ((daysAgo * 7_919 + descriptions.length * 104_729) % 1_000) / 1_000;
  const description = descriptions[(daysAgo * 31) % descriptions.length] as string;
  const tags = daysAgo % 11 === 0 ? ['shared'] : [];
  return { description, amount: (from + share * (to - from)).toFixed(2), category, tags };
}

async function seedOrders(context: Context, caller: Caller, { seed, clock, nowMs }: Loading): Promise<void> {
  const { items: customers } = await listCustomers(context, caller, { limit });
  const ids = new Map(customers.map(({ id, name }) => [name, id]));
  for (const customer of seed.customers) {
    if (!ids.has(customer.name)) ids.set(customer.name, (await createCustomer(context, caller, customer)).id);
  }
  const { items: orders } = await listOrders(context, caller, { limit });
  const known = new Set(orders.map(({ items }) => items[0]?.description));
  for (const { customer, daysAgo, steps, items } of seed.orders) {
    if (known.has(items[0]?.description)) continue;
    clock.set(nowMs - daysAgo * dayMs);
    const { id } = await createOrder(context, caller, { customerId: ids.get(customer) as string, items });
    for (const status of steps) {
      clock.set(clock.now() + dayMs);
      await updateOrder(context, caller, id, { status });
    }
  }
}
