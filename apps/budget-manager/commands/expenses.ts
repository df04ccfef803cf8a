import { listAll } from '../client.ts';
import type { Context } from '../context.ts';
import { integerOption } from '../options.ts';
import type { Column } from '../output.ts';
import { amountText } from './budgets.ts';

const pageSizeMax = 500;

interface Expense {
  readonly id: string;
  readonly description: string;
  readonly kind?: 'expense' | 'refund';
  readonly amount: number;
  readonly currency: string;
  readonly category?: string | null;
  readonly spentOn: string;
}

const columns: readonly Column<Expense>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'DATE', text: ({ spentOn }) => spentOn },
  { title: 'DESCRIPTION', text: ({ description }) => description },
  {
    title: 'AMOUNT',
    text: ({ amount, currency, kind }) => amountText(kind === 'refund' ? -amount : amount, currency),
    align: 'right',
  },
  { title: 'CURRENCY', text: ({ currency }) => currency },
  { title: 'CATEGORY', text: ({ category }) => category ?? '' },
];

export async function addExpense({ client, operands, options, output }: Context): Promise<void> {
  const [budgetId, description, amount] = operands;
  const { category, currency, date: spentOn, refund } = options;
  const expense = await client.post<Expense>('/api/expenses', {
    budgetId: budgetId === 'none' ? null : budgetId,
    kind: refund ? 'refund' : 'expense',
    description,
    amount,
    currency,
    category,
    spentOn,
  });
  output.rows([expense], columns);
}

export async function listExpenses({ client, options, output }: Context): Promise<void> {
  const max = options.all ? Number.POSITIVE_INFINITY : (integerOption(options, 'limit') ?? 100);
  const query = new URLSearchParams({ limit: String(Math.min(max, pageSizeMax)) });
  for (const [option, parameter] of [
    ['budget', 'budgetId'],
    ['from', 'from'],
    ['to', 'to'],
  ] as const) {
    if (typeof options[option] === 'string') query.set(parameter, options[option]);
  }
  output.rows(await Array.fromAsync(listAll<Expense>(client, `/api/expenses?${query}`, max)), columns);
}

export async function searchExpenses({ client, operands, options, output }: Context): Promise<void> {
  const found = await client.post<{ total: number; expenses: Expense[] }>('/api/search/expenses', {
    query: operands[0],
    size: integerOption(options, 'limit') ?? 20,
  });
  output.rows(found.expenses, columns);
  output.note(`${found.expenses.length} of ${found.total} matching expenses.`);
}
