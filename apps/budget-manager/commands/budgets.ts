import { numberText, type RawJson } from '@octavo/core/text';
import { listAll } from '../client.ts';
import type { Context } from '../context.ts';
import { integerOption } from '../options.ts';
import type { Column } from '../output.ts';

const pageSizeMax = 500;

const columns: readonly Column<Budget>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'NAME', text: ({ name }) => name },
  { title: 'LIMIT', text: ({ limit, currency }) => amountText(limit, currency), align: 'right' },
  { title: 'SPENT', text: ({ spent, currency }) => amountText(spent, currency), align: 'right' },
  { title: 'CURRENCY', text: ({ currency }) => currency },
  { title: 'CREATED', text: ({ createdAt }) => createdAt },
];

export async function listBudgets({ client, options, output }: Context): Promise<void> {
  const max = options.all ? Number.POSITIVE_INFINITY : (integerOption(options, 'limit') ?? 100);
  const path = `/api/budgets?limit=${Math.min(max, pageSizeMax)}`;
  output.rows(await Array.fromAsync(listAll<Budget>(client, path, max)), columns);
}

export async function addBudget({ client, operands, options, output }: Context): Promise<void> {
  const { limit, currency, period } = options;
  const periodDay = integerOption(options, 'period-day');
  const given = { name: operands[0], limit, currency, period, periodDay };
  const budget = await client.post<Budget>('/api/budgets', given);
  output.rows([budget], columns);
}

/** A budget, as the API shows it. */
export interface Budget {
  /** Absent in answers of servers that share no budgets. */
  readonly role?: 'owner' | 'editor' | 'viewer';
  readonly id: string;
  readonly name: string;
  readonly limit: number;
  readonly spent: number | RawJson;
  readonly currency: string;
  readonly createdAt: string;
}

/** An amount with all digits of its currency (ISO 4217), such as `1250.00`. Exact digits are never cut. */
export function amountText(amount: number | RawJson, currency: string): string {
  const { maximumFractionDigits: digits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  const [whole = '', fraction = ''] = numberText(amount).split('.');
  const isWhole = digits === 0 && fraction === '';
  return isWhole ? whole : `${whole}.${fraction.padEnd(digits ?? 0, '0')}`;
}
