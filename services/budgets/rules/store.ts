import { withBudget } from '../expenses/index.ts';
import type { RuleRow, Store } from '../store/tables.ts';

export function insertRule({ kysely }: Store, row: Omit<RuleRow, 'updated_at_ms' | 'version'>) {
  return kysely
    .insertInto('import_rule')
    .values({ ...row, updated_at_ms: row.created_at_ms, version: 1 })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function rulesAfter(
  { kysely }: Store,
  { owner, position, limit }: { owner: number; position: number; limit: number },
) {
  return kysely
    .selectFrom('import_rule')
    .selectAll()
    .where('owner', '=', owner)
    .where('position', '>', position)
    .orderBy('position')
    .limit(limit)
    .execute();
}

export async function countRules({ kysely }: Store, owner: number): Promise<number> {
  const counted = kysely
    .selectFrom('import_rule')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', owner);
  return (await counted.executeTakeFirstOrThrow()).total;
}

/** Moves the rules of some positions by one, which is a new version of each. */
export function shiftRules(
  { kysely }: Store,
  { owner, from, to, by }: { owner: number; from: number; to: number; by: 1 | -1 },
) {
  return kysely
    .updateTable('import_rule')
    .set((eb) => ({ position: eb('position', '+', by), version: eb('version', '+', 1) }))
    .where('owner', '=', owner)
    .where('position', '>=', from)
    .where('position', '<=', to)
    .execute();
}

export function updateRuleRow(
  { kysely }: Store,
  { owner, id, ...changed }: Omit<RuleRow, 'created_at_ms' | 'version'>,
) {
  return kysely
    .updateTable('import_rule')
    .set((eb) => ({ ...changed, version: eb('version', '+', 1) }))
    .where('owner', '=', owner)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function deleteRuleRow({ kysely }: Store, owner: number, id: string) {
  return kysely.deleteFrom('import_rule').where('owner', '=', owner).where('id', '=', id).execute();
}

/** Counts the recurring expenses and the orders of a budget. */
export async function budgetUses(
  { kysely }: Store,
  { owner, number, id }: { owner: number; number: number; id: string },
) {
  return kysely
    .selectNoFrom((eb) => [
      eb
        .selectFrom('recurring')
        .select((count) => count.fn.countAll<number>().as('total'))
        .where('owner', '=', owner)
        .where('budget', '=', number)
        .as('recurring'),
      eb
        .selectFrom('customer_order')
        .select((count) => count.fn.countAll<number>().as('total'))
        .where('owner', '=', owner)
        .where('budget_id', '=', id)
        .as('orders'),
    ])
    .executeTakeFirstOrThrow();
}

/** Expenses of an owner after a number, the oldest first. */
export function expensesAfter(
  { kysely }: Store,
  { owner, after, limit }: { owner: number; after: number; limit: number },
) {
  return withBudget(kysely, owner)
    .where('e.owner', '=', owner)
    .where('e.number', '>', after)
    .orderBy('e.number')
    .limit(limit)
    .execute();
}
