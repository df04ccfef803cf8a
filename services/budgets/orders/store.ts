import { newestFirst, type PlaceByTime } from '../store/newest-first.ts';
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

export function ordersPage({ kysely }: Store, place: PlaceByTime) {
  return kysely.selectFrom('customer_order').selectAll().$call(newestFirst(place)).execute();
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
