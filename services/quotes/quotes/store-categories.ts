import { keyShare, type Session, type WriteSession } from '@octavo/data';
import type { Store, Tables } from '../tables.ts';
import { keyOf, slugOf } from './quote.ts';

export interface Category {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  /** Number of its published quotes. */
  readonly quotes: number;
}

const columns = ['id', 'name', 'slug', 'quotes'] as const;

function byKey({ kysely, dialect }: Store, key: string) {
  return kysely
    .selectFrom('category')
    .select(columns)
    .where('name_key', '=', key)
    .modifyEnd(keyShare(dialect, 'category'))
    .executeTakeFirst();
}

/** Categories with published quotes by ascending id, and how many there are. */
export async function listCategories(
  session: Session<Tables>,
  slice: { limit: number; offset: number },
): Promise<{ categories: Category[]; total: number }> {
  const published = session.kysely.selectFrom('category').where('quotes', '>', 0);
  const page = published.select(columns).orderBy('id').limit(slice.limit).offset(slice.offset);
  const categories = await page.execute();
  const counted = published.select((e) => e.fn.countAll<number>().as('total'));
  const { total } = await counted.executeTakeFirstOrThrow();
  return { categories, total };
}

/** The categories with the most published quotes, by name. */
export async function largestCategories(session: Session<Tables>, limit: number): Promise<Category[]> {
  const categories = await session.kysely
    .selectFrom('category')
    .select(columns)
    .where('quotes', '>', 0)
    .orderBy('quotes', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return categories.sort((a, b) => (keyOf(a.name) < keyOf(b.name) ? -1 : 1));
}

/** The category with this slug, if it has published quotes. */
export function findCategory(session: Session<Tables>, slug: string): Promise<Category | undefined> {
  return session.kysely
    .selectFrom('category')
    .select(columns)
    .where('slug', '=', slug)
    .where('quotes', '>', 0)
    .executeTakeFirst();
}

/** The id of the category with this name in any case, which is made if it is new. */
export async function categoryId(session: WriteSession<Tables>, name: string): Promise<number> {
  const key = keyOf(name);
  const known = await byKey(session, key);
  if (known) return known.id;
  await session.lock('category');
  const made = await byKey(session, key);
  if (made) return made.id;
  const row = { name, name_key: key, slug: await freeSlug(session, name) };
  const { id } = await session.kysely
    .insertInto('category')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** The slug of a name, with a number if another category has it. */
export async function freeSlug(session: WriteSession<Tables>, name: string): Promise<string> {
  const slug = slugOf(name);
  const rows = await session.kysely
    .selectFrom('category')
    .select('slug')
    .where((e) => e.or([e('slug', '=', slug), e('slug', 'like', `${slug}-%`)]))
    .execute();
  const taken = new Set(rows.map((row) => row.slug));
  if (!taken.has(slug)) return slug;
  let number = 2;
  while (taken.has(`${slug}-${number}`)) number++;
  return `${slug}-${number}`;
}
