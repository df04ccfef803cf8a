import { type Client, listAll } from '../client.ts';
import type { Context } from '../context.ts';
import { integerOption } from '../options.ts';
import type { Budget } from './budgets.ts';

const dayMs = 86_400_000;
const spanDays = 90;
const pageSize = 500;

interface Kind {
  readonly name: string;
  readonly limit: number;
  readonly period: 'monthly' | 'yearly';
  /** The amounts of single expenses, from and to, in dollars. */
  readonly from: number;
  readonly to: number;
  readonly descriptions: readonly string[];
}

const kinds: readonly Kind[] = [
  {
    name: 'Groceries',
    limit: 600,
    period: 'monthly',
    from: 8,
    to: 95,
    descriptions: ['Weekly shopping', 'Bakery', 'Farmers market', 'Corner store', 'Coffee beans'],
  },
  {
    name: 'Rent and utilities',
    limit: 1_800,
    period: 'monthly',
    from: 35,
    to: 220,
    descriptions: ['Electricity', 'Water', 'Internet', 'Heating', 'Waste collection'],
  },
  {
    name: 'Transport',
    limit: 220,
    period: 'monthly',
    from: 2,
    to: 60,
    descriptions: ['Bus ticket', 'Train to the office', 'Bicycle repair', 'Taxi home', 'Fuel'],
  },
  {
    name: 'Eating out',
    limit: 250,
    period: 'monthly',
    from: 6,
    to: 70,
    descriptions: ['Lunch with the team', 'Café Zoë', 'Pizza night', 'Noodle bar', 'Sunday brunch'],
  },
  {
    name: 'Health',
    limit: 150,
    period: 'monthly',
    from: 5,
    to: 90,
    descriptions: ['Pharmacy', 'Dentist', 'Gym', 'New glasses', 'Physiotherapy'],
  },
  {
    name: 'Travel',
    limit: 3_000,
    period: 'yearly',
    from: 30,
    to: 480,
    descriptions: ['Hotel in Porto', 'Night train', 'Museum tickets', 'Rental car', 'Flight to Oslo'],
  },
  {
    name: 'Home',
    limit: 200,
    period: 'monthly',
    from: 7,
    to: 150,
    descriptions: ['Paint', 'Desk lamp', 'Plant pots', 'Screws and hooks', 'Curtains'],
  },
  {
    name: 'Leisure',
    limit: 120,
    period: 'monthly',
    from: 4,
    to: 60,
    descriptions: ['Cinema', 'Concert', 'Board game', 'Paperbacks', 'Swimming pool'],
  },
  {
    name: 'Gifts',
    limit: 400,
    period: 'yearly',
    from: 10,
    to: 80,
    descriptions: ['Birthday present', 'Flowers', 'Wedding gift', 'Postcards and stamps', 'Donation'],
  },
  {
    name: 'Work',
    limit: 300,
    period: 'monthly',
    from: 9,
    to: 140,
    descriptions: ['Notebook and pens', 'Keyboard', 'Conference ticket', 'Domain name', 'Coworking day'],
  },
];

interface Expense {
  readonly externalId?: string | null;
}

/** Adds the missing demo data. It recognizes its own budgets by name, and its expenses by external id. */
export async function seed({ client, options, output }: Context): Promise<void> {
  const budgets = integerOption(options, 'budgets', 0) ?? 10;
  const expenses = integerOption(options, 'expenses', 0) ?? 100;
  const number = integerOption(options, 'seed', 0) ?? 1;
  const existing = new Map<string, Budget>();
  for await (const budget of listAll<Budget>(client, `/api/budgets?limit=${pageSize}`)) {
    const isOwn = (budget.role ?? 'owner') === 'owner';
    if (isOwn && budget.name.endsWith(suffixOf(number))) existing.set(budget.name, budget);
  }
  if (options.reset) await deleteAll(client, existing);
  const ids: string[] = [];
  for (let at = 0; at < budgets; at++) {
    ids.push(await ensureBudget(client, existing, { at, number }));
    output.progress('Budgets ', at + 1, budgets);
  }
  const known = new Set<string>();
  for (const id of ids) {
    for await (const { externalId } of listAll<Expense>(
      client,
      `/api/expenses?budgetId=${id}&limit=${pageSize}`,
    )) {
      if (externalId) known.add(externalId);
    }
  }
  for (let at = 0; budgets > 0 && at < expenses; at++) {
    const externalId = `seed-${number}-${at}`;
    if (!known.has(externalId))
      await client.post('/api/expenses', expenseOf(at, { number, ids, externalId }));
    output.progress('Expenses', at + 1, expenses);
  }
  const made = { budgets, expenses: budgets > 0 ? expenses : 0 };
  if (output.json) output.object(made);
  else output.line(`Seeded ${made.budgets} budgets, ${made.expenses} expenses`);
}

async function deleteAll(client: Client, existing: Map<string, Budget>): Promise<void> {
  for (const { id } of existing.values()) {
    await client.send(`/api/budgets/${id}?cascade=true`, { method: 'DELETE' });
  }
  existing.clear();
}

async function ensureBudget(
  client: Client,
  existing: ReadonlyMap<string, Budget>,
  { at, number }: { at: number; number: number },
): Promise<string> {
  const { name, limit, period } = kindAt(at);
  const round = Math.floor(at / kinds.length);
  const title = `${name}${round > 0 ? ` ${round + 1}` : ''}${suffixOf(number)}`;
  const found = existing.get(title);
  if (found) return found.id;
  const { id } = await client.post<Budget>('/api/budgets', { name: title, limit, period, currency: 'USD' });
  return id;
}

function expenseOf(
  at: number,
  { number, ids, externalId }: { number: number; ids: readonly string[]; externalId: string },
) {
  const random = randomFrom(number * 1_000_003 + at);
  const index = Math.floor(random() * ids.length);
  const { name, from, to, descriptions } = kindAt(index);
  // Small amounts are more common than large ones.
  const amount = (from + (to - from) * random() ** 2).toFixed(2);
  const spentOn = new Date(Date.now() - Math.floor(random() * spanDays) * dayMs).toISOString().slice(0, 10);
  const description = descriptions[Math.floor(random() * descriptions.length)];
  return { budgetId: ids[index], description, amount, category: name.toLowerCase(), spentOn, externalId };
}

function kindAt(at: number): Kind {
  return kinds[at % kinds.length] as Kind;
}

/** Budgets of the user's own never end like this. */
function suffixOf(number: number): string {
  return ` (seed ${number})`;
}

/** Numbers from 0 to 1 that are the same for the same seed (the generator mulberry32 by Tommy Ettinger). */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}
