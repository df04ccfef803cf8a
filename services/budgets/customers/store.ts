import { statement } from '#kit/db/index.ts';
import type { CustomerRow, Tables } from '../tables.ts';

export const insertCustomer = statement<Tables, Omit<CustomerRow, 'updated_at_ms' | 'version'>>()((db, p) =>
  db
    .insertInto('customer')
    .values({
      owner: p('owner'),
      id: p('id'),
      name: p('name'),
      email: p('email'),
      phone: p('phone'),
      created_at_ms: p('created_at_ms'),
      updated_at_ms: p('created_at_ms'),
      version: 1,
    })
    .returningAll(),
);

export const customerById = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db.selectFrom('customer').selectAll().where('owner', '=', p('owner')).where('id', '=', p('id')),
);

export const customersPage = statement<
  Tables,
  { owner: number; beforeMs: number; beforeId: string; limit: number }
>()((db, p) =>
  db
    .selectFrom('customer')
    .selectAll()
    .where('owner', '=', p('owner'))
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at_ms', 'id'), '<', tuple(p('beforeMs'), p('beforeId')) as never),
    )
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(p('limit')),
);

export const countCustomers = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('customer')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', p('owner')),
);

export const updateCustomerRow = statement<Tables, Omit<CustomerRow, 'created_at_ms' | 'version'>>()(
  (db, p) =>
    db
      .updateTable('customer')
      .set((eb) => ({
        name: p('name'),
        email: p('email'),
        phone: p('phone'),
        updated_at_ms: p('updated_at_ms'),
        version: eb('version', '+', 1),
      }))
      .where('owner', '=', p('owner'))
      .where('id', '=', p('id'))
      .returningAll(),
);

/** A customer with orders stays. */
export const deleteCustomerRow = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db
    .deleteFrom('customer')
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('customer_order')
            .select('id')
            .where('owner', '=', p('owner'))
            .where('customer_id', '=', p('id')),
        ),
      ),
    ),
);
