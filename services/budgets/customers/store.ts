import { sql } from 'kysely';
import type { CustomerRow, Store } from '../store/tables.ts';

export function insertCustomer({ kysely }: Store, row: Omit<CustomerRow, 'updated_at_ms' | 'version'>) {
  return kysely
    .insertInto('customer')
    .values({ ...row, updated_at_ms: row.created_at_ms, version: 1 })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function customerById({ kysely }: Store, owner: number, id: string) {
  return kysely
    .selectFrom('customer')
    .selectAll()
    .where('owner', '=', owner)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function customersPage(
  { kysely }: Store,
  given: { owner: number; beforeMs: number; beforeId: string; limit: number },
) {
  return kysely
    .selectFrom('customer')
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

export function countCustomers({ kysely }: Store, owner: number) {
  return kysely
    .selectFrom('customer')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', owner)
    .executeTakeFirst();
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
