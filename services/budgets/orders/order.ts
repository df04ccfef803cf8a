import { allOptional, field, isoTime, type Static, Type, withoutLabels } from '@octavo/core';
import { toMajor } from '@octavo/documents/values';
import {
  Amount,
  AmountInput,
  Currency,
  Id,
  Instant,
  Minor,
  nullable,
  Reference,
  text,
} from '../edges/schemas.ts';
import type { OrderRow } from '../store/tables.ts';

export const orderStatuses = ['pending', 'completed', 'shipped', 'delivered', 'canceled'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** The steps that an order can take from each status. */
export const steps: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: ['completed', 'shipped', 'canceled'],
  shipped: ['delivered'],
  completed: ['canceled'],
  delivered: [],
  canceled: [],
};

const quantity = Type.Integer({ minimum: 1, maximum: 1_000_000, examples: [2] });

const Item = Type.Object(
  { description: Type.String({ examples: ['Chair'] }), quantity, unitAmount: Amount, unitAmountMinor: Minor },
  { title: 'OrderItem' },
);

const ItemInput = Type.Object(
  { description: text(500, { examples: ['Chair'] }), quantity, unitAmount: AmountInput },
  { title: 'OrderItemInput' },
);

export const Order = Type.Object(
  {
    id: Id,
    customerId: Id,
    budgetId: nullable(Id),
    items: Type.Array(Item),
    amount: Amount,
    amountMinor: Minor,
    currency: Currency,
    status: Type.Enum(orderStatuses),
    transactionId: nullable(Id),
    createdAt: Instant,
    updatedAt: Instant,
    version: Type.Integer({ examples: [1] }),
  },
  { title: 'Order' },
);
export type Order = Static<typeof Order>;

const items = Type.Array(ItemInput, { minItems: 1, maxItems: 100 });

/** The fields of an order that people write, as those of budgets. */
export const orderFields = {
  customerId: field('Customer', Reference),
  budgetId: Type.Optional(field('Budget', nullable(Reference))),
  items: field('Items', items),
  currency: Type.Optional(field('Currency', Currency)),
};
const inputFields = withoutLabels(orderFields);

export const OrderInput = Type.Object(inputFields, { title: 'OrderInput' });
export type OrderInput = Static<typeof OrderInput>;

export const OrderPatch = Type.Object(
  {
    status: Type.Optional(Type.Enum(orderStatuses, { description: 'A step' })),
    ...allOptional(inputFields),
  },
  {
    title: 'OrderPatch',
    description: 'A step by status, or changes of a pending order. Fields that are left out stay unchanged',
  },
);
export type OrderPatch = Static<typeof OrderPatch>;

/** Item as stored. */
export interface StoredItem {
  readonly description: string;
  readonly quantity: number;
  readonly unitAmountMinor: number;
}

export function itemsOf({ items }: OrderRow): StoredItem[] {
  return JSON.parse(items);
}

export function toOrder(row: OrderRow): Order {
  const { currency } = row;
  return {
    id: row.id,
    customerId: row.customer_id,
    budgetId: row.budget_id,
    items: itemsOf(row).map((item) => ({ ...item, unitAmount: toMajor(item.unitAmountMinor, currency) })),
    amount: toMajor(row.amount_minor, currency),
    amountMinor: row.amount_minor,
    currency,
    status: row.status,
    transactionId: row.transaction_id,
    createdAt: isoTime(row.created_at_ms),
    updatedAt: isoTime(row.updated_at_ms),
    version: row.version,
  };
}
