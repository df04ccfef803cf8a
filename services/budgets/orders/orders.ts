import { AppError, newOrderedId, notFound } from '@octavo/core';
import type { Session } from '@octavo/data';
import { decimalText, isCurrency, minorMax, parseMoney } from '@octavo/documents/values';
import type { Page, PageRequest } from '@octavo/web/rest';
import { checkVersion, type Versions } from '@octavo/web/rest';
import { requireBudget } from '../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { requireCustomer } from '../customers/index.ts';
import { pageByTime, placeByTime } from '../edges/paging.ts';
import { invalid } from '../edges/schema-parser.ts';
import { post, tryReverse } from '../ledger/index.ts';
import { countOwned, ownedRow } from '../store/owned.ts';
import type { OrderRow, Tables } from '../store/tables.ts';
import {
  itemsOf,
  type Order,
  type OrderInput,
  type OrderPatch,
  type OrderStatus,
  steps,
  toOrder,
} from './order.ts';
import { deleteOrderRow, insertOrder, ordersPage, updateOrderRow } from './store.ts';

export function createOrder(context: Context, caller: Caller, given: OrderInput): Promise<Order> {
  return runCommand(context, caller, async (transaction) => {
    const { session, owner, nowMs } = transaction;
    const contents = await contentsOf(transaction, given);
    const row = { owner, id: newOrderedId(), ...contents, created_at_ms: nowMs };
    return toOrder(await insertOrder(session, row));
  });
}

export async function getOrder({ db }: Context, { owner }: Caller, id: string): Promise<Order> {
  return toOrder(await requireOrder(db, owner, id));
}

/** Orders, newest first. */
export async function listOrders(
  { db }: Context,
  { owner }: Caller,
  request: PageRequest,
): Promise<Page<Order>> {
  const rows = await ordersPage(db, { owner, ...placeByTime(request) });
  const total = await countOwned(db, 'customer_order', owner);
  return pageByTime(rows, { request, total, view: toOrder });
}

/** Takes a step (`status`), or changes a pending order, or both. */
export function updateOrder(
  context: Context,
  caller: Caller,
  id: string,
  { versions, status, ...changes }: OrderPatch & { readonly versions?: Versions },
): Promise<Order> {
  return runCommand(context, caller, async (transaction) => {
    const { session, owner, nowMs } = transaction;
    const before = await requireOrder(session, owner, id);
    checkVersion(before.version, versions);
    const changed = await changedOrder(transaction, before, changes);
    const stepped = status === undefined ? changed : await step(transaction, changed, status);
    const row = await updateOrderRow(session, { ...stepped, updated_at_ms: nowMs });
    return toOrder(row as OrderRow);
  });
}

/** Throws `conflict` for an order that is no longer pending. */
export function deleteOrder(
  context: Context,
  caller: Caller,
  id: string,
  versions?: Versions,
): Promise<{ message: string; id: string }> {
  return runCommand(context, caller, async ({ session, owner }) => {
    const { status, version } = await requireOrder(session, owner, id);
    checkVersion(version, versions);
    if (status !== 'pending')
      throw new AppError('conflict', `This order is ${status}. Only pending orders can be deleted.`);
    await deleteOrderRow(session, owner, id);
    return { message: 'Order deleted', id };
  });
}

async function requireOrder(session: Session<Tables>, owner: number, id: string): Promise<OrderRow> {
  const row = await ownedRow(session, 'customer_order', { owner, id });
  if (!row) throw notFound('order', id);
  return row;
}

/** Completing and delivering write the transaction: money comes in. Canceling a completed order reverses it. */
async function step(
  transaction: AccountTransaction,
  order: OrderRow,
  status: OrderStatus,
): Promise<OrderRow> {
  if (!steps[order.status].includes(status)) {
    const allowed = steps[order.status].join(' or ') || 'nothing else';
    throw new AppError('conflict', `This order is ${order.status} and can become ${allowed}.`, {
      fields: { status: `must be ${allowed}` },
    });
  }
  if (status === 'canceled' && order.transaction_id !== null)
    await tryReverse(transaction, order.transaction_id);
  if (status !== 'completed' && status !== 'delivered') return { ...order, status };
  const { id } = await post(transaction, {
    type: 'credit',
    description: `Order of ${itemsOf(order)
      .map(({ description }) => description)
      .join(', ')
      .slice(0, 400)}`,
    amountMinor: order.amount_minor,
    currency: order.currency,
    budgetId: order.budget_id,
    orderId: order.id,
  });
  return { ...order, status, transaction_id: id };
}

type Contents = Pick<OrderRow, 'customer_id' | 'budget_id' | 'items' | 'amount_minor' | 'currency'>;

async function changedOrder(
  transaction: AccountTransaction,
  before: OrderRow,
  changes: Omit<OrderPatch, 'status'>,
): Promise<OrderRow> {
  if (Object.values(changes).every((value) => value === undefined)) return before;
  if (before.status !== 'pending')
    throw new AppError('conflict', `This order is ${before.status}. Only pending orders can change.`);
  const { customer_id, budget_id, currency } = before;
  const items = itemsOf(before).map(({ unitAmountMinor, ...item }) => {
    return { ...item, unitAmount: decimalText(unitAmountMinor, currency) };
  });
  const kept = { customerId: customer_id, budgetId: budget_id, items, currency };
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...before, ...(await contentsOf(transaction, { ...kept, ...Object.fromEntries(given) })) };
}

async function contentsOf({ session, owner }: AccountTransaction, given: OrderInput): Promise<Contents> {
  const { customerId, budgetId } = given;
  await requireCustomer(session, owner, customerId);
  const budget = budgetId ? await requireBudget(session, owner, budgetId) : undefined;
  const { currency = budget?.currency ?? 'USD' } = given;
  if (!isCurrency(currency))
    throw invalid({ currency: 'must be the code of a currency (ISO 4217), such as USD' });
  if (budget && currency !== budget.currency)
    throw invalid({ currency: `must be ${budget.currency}, the currency of the budget` });
  const items = given.items.map(({ description, quantity, unitAmount }, index) => {
    const parsed = parseMoney(unitAmount, currency);
    const field = `items[${index}].unitAmount`;
    if (parsed.problem !== undefined) throw invalid({ [field]: parsed.problem });
    if (parsed.minor < 0) throw invalid({ [field]: 'must be at least 0' });
    return { description, quantity, unitAmountMinor: parsed.minor };
  });
  const sum = items.reduce((all, item) => all + BigInt(item.quantity) * BigInt(item.unitAmountMinor), 0n);
  if (sum > BigInt(minorMax)) throw invalid({ items: 'must have a sum of at most 15 digits' });
  return {
    customer_id: customerId,
    budget_id: budget?.id ?? null,
    items: JSON.stringify(items),
    amount_minor: Number(sum),
    currency,
  };
}
