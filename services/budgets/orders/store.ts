import { sql } from 'kysely';
import type { OrderRow, Store } from '../store/tables.ts';

export function insertOrder(
  { kysely }: Store,
  row: Omit<OrderRow, 'updated_at_ms' | 'version' | 'status' | 'transaction_id'>,
) {
  return kysely
    .insertInto('customer_order')
    .values({ ...row, status: 'pending', updated_at_ms: row.created_at_ms, version: 1 })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function orderById({ kysely }: Store, owner: number, id: string) {
  return kysely
    .selectFrom('customer_order')
    .selectAll()
    .where('owner', '=', owner)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function ordersPage(
  { kysely }: Store,
  given: { owner: number; beforeMs: number; beforeId: string; limit: number },
) {
  return kysely
    .selectFrom('customer_order')
    .selectAll()
    .where('owner', '=', given.owner)
    .where(
      sql<boolean>`(${sql.ref('created_at_ms')}, ${sql.ref('id')}) < (${given.beforeMs}, ${given.beforeId})`,
    )
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(given.limit)
    .execute();
}

export function countOrders({ kysely }: Store, owner: number) {
  return kysely
    .selectFrom('customer_order')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', owner)
    .executeTakeFirst();
}

export function updateOrderRow({ kysely }: Store, given: Omit<OrderRow, 'created_at_ms' | 'version'>) {
  return kysely
    .updateTable('customer_order')
    .set((eb) => ({
      customer_id: given.customer_id,
      budget_id: given.budget_id,
      items: given.items,
      amount_minor: given.amount_minor,
      currency: given.currency,
      status: given.status,
      transaction_id: given.transaction_id,
      updated_at_ms: given.updated_at_ms,
      version: eb('version', '+', 1),
    }))
    .where('owner', '=', given.owner)
    .where('id', '=', given.id)
    .returningAll()
    .executeTakeFirst();
}

export function deleteOrderRow({ kysely }: Store, owner: number, id: string) {
  return kysely.deleteFrom('customer_order').where('owner', '=', owner).where('id', '=', id).execute();
}
