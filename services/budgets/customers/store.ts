import { newestFirst, type PlaceByTime } from '../store/newest-first.ts';
import type { CustomerRow, Store } from '../store/tables.ts';

export function insertCustomer({ kysely }: Store, row: Omit<CustomerRow, 'updated_at_ms' | 'version'>) {
  return kysely
    .insertInto('customer')
    .values({ ...row, updated_at_ms: row.created_at_ms, version: 1 })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function customersPage({ kysely }: Store, place: PlaceByTime) {
  return kysely.selectFrom('customer').selectAll().$call(newestFirst(place)).execute();
}

export function updateCustomerRow(
  { kysely }: Store,
  { owner, id, ...changed }: Omit<CustomerRow, 'created_at_ms' | 'version'>,
) {
  return kysely
    .updateTable('customer')
    .set((eb) => ({ ...changed, version: eb('version', '+', 1) }))
    .where('owner', '=', owner)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** A customer with orders stays. */
export function deleteCustomerRow({ kysely }: Store, owner: number, id: string) {
  return kysely
    .deleteFrom('customer')
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('customer_order').select('id').where('owner', '=', owner).where('customer_id', '=', id),
        ),
      ),
    )
    .executeTakeFirst();
}
