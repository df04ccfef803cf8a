import { amountText } from './budget.ts';
import type { Context } from './context.ts';
import { integerOption } from './options.ts';
import type { Column } from './output.ts';

interface Expense {
  readonly id: string;
  readonly description: string;
  readonly amount: number;
  readonly currency: string;
  readonly category?: string | null;
  readonly spentOn: string;
}

const columns: readonly Column<Expense>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'DATE', text: ({ spentOn }) => spentOn },
  { title: 'DESCRIPTION', text: ({ description }) => description },
  { title: 'AMOUNT', text: ({ amount, currency }) => amountText(amount, currency), align: 'right' },
  { title: 'CURRENCY', text: ({ currency }) => currency },
  { title: 'CATEGORY', text: ({ category }) => category ?? '' },
];

export async function addExpense({ client, operands, options, output }: Context): Promise<void> {
  const [budgetId, description, amount] = operands;
  const { category, date: spentOn } = options;
  const expense = await client.post<Expense>('/api/expenses', {
    ...{ budgetId, description, amount, category, spentOn },
  });
  output.rows([expense], columns);
}

export async function searchExpenses({ client, operands, options, output }: Context): Promise<void> {
  const found = await client.post<{ total: number; expenses: Expense[] }>('/api/search/expenses', {
    query: operands[0],
    size: integerOption(options, 'limit') ?? 20,
  });
  output.rows(found.expenses, columns);
  output.note(`${found.expenses.length} of ${found.total} matching expenses.`);
}
