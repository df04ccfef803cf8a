import { statement } from '#kit/db/index.ts';
import type { OrderRow, Tables } from '../tables.ts';

export const insertOrder = statement<
  Tables,
  Omit<OrderRow, 'updated_at_ms' | 'version' | 'status' | 'transaction_id'>
>()((db, p) =>
  db
    .insertInto('customer_order')
    .values({
      owner: p('owner'),
      id: p('id'),
      customer_id: p('customer_id'),
      budget_id: p('budget_id'),
      items: p('items'),
      amount_minor: p('amount_minor'),
      currency: p('currency'),
      status: 'pending',
      created_at_ms: p('created_at_ms'),
      updated_at_ms: p('created_at_ms'),
      version: 1,
    })
    .returningAll(),
);

export const orderById = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db.selectFrom('customer_order').selectAll().where('owner', '=', p('owner')).where('id', '=', p('id')),
);

export const ordersPage = statement<
  Tables,
  { owner: number; beforeMs: number; beforeId: string; limit: number }
>()((db, p) =>
  db
    .selectFrom('customer_order')
    .selectAll()
    .where('owner', '=', p('owner'))
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at_ms', 'id'), '<', tuple(p('beforeMs'), p('beforeId')) as never),
    )
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(p('limit')),
);

export const countOrders = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('customer_order')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', p('owner')),
);

export const updateOrderRow = statement<Tables, Omit<OrderRow, 'created_at_ms' | 'version'>>()((db, p) =>
  db
    .updateTable('customer_order')
    .set((eb) => ({
      customer_id: p('customer_id'),
      budget_id: p('budget_id'),
      items: p('items'),
      amount_minor: p('amount_minor'),
      currency: p('currency'),
      status: p('status'),
      transaction_id: p('transaction_id'),
      updated_at_ms: p('updated_at_ms'),
      version: eb('version', '+', 1),
    }))
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .returningAll(),
);

export const deleteOrderRow = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db.deleteFrom('customer_order').where('owner', '=', p('owner')).where('id', '=', p('id')),
);
