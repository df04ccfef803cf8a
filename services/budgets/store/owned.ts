import type { Selectable } from 'kysely';
import type { Store, Tables } from './tables.ts';

type OwnedTable = 'customer' | 'customer_order' | 'import_rule' | 'notification';

/** The row of an account with this id. */
export function ownedRow<T extends OwnedTable>(
  { kysely }: Store,
  table: T,
  { owner, id }: { readonly owner: number; readonly id: string },
) {
  return kysely
    .selectFrom<OwnedTable>(table)
    .selectAll()
    .where('owner', '=', owner)
    .where('id', '=', id)
    .$castTo<Selectable<Tables[T]>>()
    .executeTakeFirst();
}

export async function countOwned(
  { kysely }: Store,
  table: 'customer' | 'customer_order' | 'recurring',
  owner: number,
): Promise<number> {
  const { total } = await kysely
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', owner)
    .executeTakeFirstOrThrow();
  return total;
}
