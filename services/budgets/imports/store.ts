import type { Store } from '../store/tables.ts';

/** Keeps how a person had files with a header read, in place of what was kept before, and forgets the oldest of more than `max`. */
export async function putMapping(
  { kysely }: Store,
  { max, ...row }: { owner: number; header: string; options: string; used_at_ms: number; max: number },
): Promise<void> {
  const { owner, options, used_at_ms } = row;
  await kysely
    .insertInto('import_mapping')
    .values(row)
    .onConflict((conflict) => conflict.columns(['owner', 'header']).doUpdateSet({ options, used_at_ms }))
    .execute();
  const newest = kysely
    .selectFrom('import_mapping')
    .select('header')
    .where('owner', '=', owner)
    .orderBy('used_at_ms', 'desc')
    .limit(max);
  await kysely
    .deleteFrom('import_mapping')
    .where('owner', '=', owner)
    .where('header', 'not in', newest)
    .execute();
}

export function findMapping({ kysely }: Store, { owner, header }: { owner: number; header: string }) {
  return kysely
    .selectFrom('import_mapping')
    .select('options')
    .where('owner', '=', owner)
    .where('header', '=', header)
    .executeTakeFirst();
}

/** The descriptions of the expenses of an account, or of one of its budgets, with the first day of each. */
export function paidDescriptions(
  { kysely }: Store,
  { owner, sharedBudget }: { readonly owner: number; readonly sharedBudget: number | undefined },
) {
  return kysely
    .selectFrom('expense')
    .select((eb) => ['description', eb.fn.min<string>('spent_on').as('day')])
    .where('owner', '=', owner)
    .$if(sharedBudget !== undefined, (some) => some.where('budget', '=', sharedBudget as number))
    .where('amount_minor', '>', 0)
    .groupBy('description')
    .execute();
}
