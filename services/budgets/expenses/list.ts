import { AppError } from '@octavo/core';
import { type Session, scan } from '@octavo/data';
import type { Page, PageRequest } from '@octavo/web/rest';
import { decodeCursor, encodeCursor } from '@octavo/web/rest';
import { scopeOf } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { idOfRow } from '../edges/paging.ts';
import type { Tables } from '../store/tables.ts';
import { type Expense, type ExpenseWithBudget, toExpense } from './expense.ts';
import {
  countAllExpenses,
  countExpenses,
  type ExpenseFilter,
  expenseBeforeId,
  expenseById,
  newestCurrency,
  type Place,
  recentCategories,
  type SortField,
  selectExpenses,
  sortColumns,
  spellingsOf,
} from './store.ts';

/** Sort orders of expenses: by a field, with `-` in descending order. */
export const expenseSorts = ['spentOn', '-spentOn', 'amount', '-amount', 'createdAt', '-createdAt'] as const;
export type ExpenseSort = (typeof expenseSorts)[number];

export interface ExpensesRequest extends PageRequest, Omit<ExpenseFilter, 'budgets' | 'categories'> {
  /** Category in any case, with or without accents. */
  readonly category?: string | undefined;
  /** The id of a budget, or `none` for unassigned expenses. */
  readonly budgetId?: string | undefined;
  /** Newest first (`-createdAt`) by default. */
  readonly sort?: ExpenseSort | undefined;
  /** The id of the last expense that was seen, in place of a cursor, newest first. */
  readonly afterId?: string | undefined;
}

/** Expenses that match: of the caller, or of a budget that is shared with it. Any other budget is `not_found`. */
export async function listExpenses(
  { db }: Context,
  caller: Caller,
  { budgetId, category, sort: by = '-createdAt', limit, cursor, afterId, ...others }: ExpensesRequest,
): Promise<Page<Expense>> {
  const sort = by.replace('-', '') as SortField;
  return db.read(async (session) => {
    const { owner, budgets } = await scopeOf(session, caller.owner, budgetId);
    const after = afterId === undefined ? placeIn(cursor, sort) : await placeAfter(session, owner, afterId);
    const ofAccount = (await countAllExpenses.first(session, { owner }))?.total ?? 0;
    const all = budgets?.reduce((sum, { expenses }) => sum + expenses, 0) ?? ofAccount;
    const spellings = { database: db, session, touched: ofAccount };
    const categories = category === undefined ? undefined : await spellingsOf(spellings, owner, category);
    const filter = { ...others, categories };
    const wanted = { ...filter, budgets: budgets?.map(({ number }) => number) };
    const page = { sort, isDescending: by.startsWith('-'), after, limit: limit + 1 };
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    // Indexes have the order of a page without conditions, but for the amounts of a budget.
    const isOrdered = !isFiltered && (budgets === undefined || sort !== 'amount');
    const place = { database: db, session, touched: isOrdered ? limit : all };
    const rows = await scan(selectExpenses(session, owner, wanted, page), place);
    const total = isFiltered ? await countExpenses(place, owner, wanted) : all;
    const shown = rows.slice(0, limit);
    const final = rows.length > limit ? shown.at(-1) : undefined;
    return { items: shown.map(toExpense), total, next: final && encodeCursor(placeOf(final, sort)) };
  });
}

/** The categories that the caller uses, to choose from. */
export function listCategories({ db }: Context, { owner }: Caller): Promise<string[]> {
  return db.read((session) => recentCategories(session, owner));
}

/** The currency that an account uses: of its newest budget or, without one, of its newest expense; USD if it has neither. */
export async function usualCurrency({ db }: Context, { owner }: Caller): Promise<string> {
  return db.read(async (session) => (await newestCurrency(session, owner)) ?? 'USD');
}

/** Throws `invalid_input` for a range whose end is before its start. */
export function checkRange(from: string | undefined, to: string | undefined): void {
  if (from === undefined || to === undefined || from <= to) return;
  throw new AppError('invalid_input', 'to must not be before from.', {
    fields: { to: 'must not be before from' },
  });
}

/** The place of an expense in the list, newest first, even if it has been deleted. */
async function placeAfter(session: Session<Tables>, owner: number, id: string): Promise<Place> {
  const last = await expenseById.first(session, { owner, id });
  if (last) return placeOf(last, 'createdAt');
  const next = await expenseBeforeId.first(session, { owner, id: idOfRow(id) });
  const number = (next?.number ?? 0) + 1;
  return [number, number];
}

function placeOf(row: ExpenseWithBudget, sort: SortField): Place {
  return [row[sortColumns[sort]], row.number];
}

const kindOfField = { spentOn: 'string', amount: 'number', createdAt: 'integer' } as const;

function placeIn(cursor: string | undefined, sort: SortField): Place | undefined {
  const kinds = [kindOfField[sort], 'integer'] as const;
  const place = decodeCursor(cursor, kinds);
  return place.length === 0 ? undefined : (place as unknown as Place);
}
