import type { Membership, Values } from '@octavo/admin';
import type { WriteSession } from '@octavo/data';
import { sql } from 'kysely';
import type { Kind } from '../records.ts';
import { tables } from './import.ts';
import { type Relation, relations, replaceMembers, type Tables } from './store.ts';

/** Members of another table in the order of their names, kept in a table between the two. */
export function membersOf(label: string, relation: Relation): Membership<Tables> {
  const { owner, member } = relations[relation];
  const other = member === 'member_id' ? 'member' : 'sector';
  return {
    label,
    async choices({ kysely }) {
      const rows = await kysely.selectFrom(other).select(['id', 'name']).orderBy('name_words').execute();
      return rows.map(({ id, name }) => [id, name] as const);
    },
    async load({ kysely }, id) {
      const found = sql<{ id: string }>`select ${sql.ref(member)} as id from ${sql.table(relation)}
        where ${sql.ref(owner)} = ${id} order by place`;
      return (await found.execute(kysely)).rows.map((row) => row.id);
    },
    save: (session, id, members) => replaceMembers(session, relation, { id, members }),
  };
}

/** A slug that no other record of the kind has: the base, or the base with a number. */
export async function freeSlug({ kysely }: WriteSession<Tables>, kind: Kind, base: string): Promise<string> {
  const taken = await kysely
    .selectFrom(tables[kind])
    .select('slug')
    .where(({ or, eb }) => or([eb('slug', '=', base), eb('slug', 'like', `${base}-%`)]))
    .execute();
  const slugs = new Set(taken.map(({ slug }) => slug));
  for (let number = 1; ; number++) {
    const slug = number === 1 ? base : `${base}-${number}`;
    if (!slugs.has(slug)) return slug;
  }
}

/** The lead belongs to the team, before the others. */
export async function addLead(
  { kysely }: WriteSession<Tables>,
  { id, after }: { id: string; after: Values },
): Promise<void> {
  if (!after.lead_id) return;
  const lead = { investment_id: id, member_id: String(after.lead_id), place: -1 };
  await kysely
    .insertInto('investment_member')
    .values(lead)
    .onConflict((conflict) => conflict.columns(['investment_id', 'member_id']).doUpdateSet({ place: -1 }))
    .execute();
}
