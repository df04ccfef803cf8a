import { keyShare, type Session, statement, type WriteSession } from '#kit/db/index.ts';
import type { Tables } from '../tables.ts';
import { keyOf, slugOf } from './quote.ts';

export interface Category {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  /** How many published quotes it has. */
  readonly quotes: number;
}

const columns = ['id', 'name', 'slug', 'quotes'] as const;

const byKey = statement<Tables, { key: string }>()((db, p, dialect) =>
  db
    .selectFrom('category')
    .select(columns)
    .where('name_key', '=', p('key'))
    .modifyEnd(keyShare(dialect, 'category')),
);

const bySlug = statement<Tables, { slug: string }>()((db, p) =>
  db.selectFrom('category').select(columns).where('slug', '=', p('slug')),
);

const page = statement<Tables, { limit: number; offset: number }>()((db, p) =>
  db.selectFrom('category').select(columns).orderBy('id').limit(p('limit')).offset(p('offset')),
);

const largest = statement<Tables, { limit: number }>()((db, p) =>
  db
    .selectFrom('category')
    .select(columns)
    .where('quotes', '>', 0)
    .orderBy('quotes', 'desc')
    .orderBy('id')
    .limit(p('limit')),
);

const total = statement<Tables>()((db) =>
  db.selectFrom('category').select((e) => e.fn.countAll<number>().as('total')),
);

/** By ascending id, and how many there are. */
export async function listCategories(
  session: Session<Tables>,
  slice: { limit: number; offset: number },
): Promise<{ categories: Category[]; total: number }> {
  const categories = await page.all(session, { ...slice });
  return { categories, total: (await total.first(session, {}))?.total ?? 0 };
}

/** The categories with the most published quotes, by name. */
export async function largestCategories(session: Session<Tables>, limit: number): Promise<Category[]> {
  const categories = await largest.all(session, { limit });
  return categories.sort((a, b) => (keyOf(a.name) < keyOf(b.name) ? -1 : 1));
}

export function findCategory(session: Session<Tables>, slug: string): Promise<Category | undefined> {
  return bySlug.first(session, { slug });
}

/** The id of the category with this name in any case, which is made if it is new. */
export async function categoryId(session: WriteSession<Tables>, name: string): Promise<number> {
  const key = keyOf(name);
  const known = await byKey.first(session, { key });
  if (known) return known.id;
  await session.lock('category');
  const made = await byKey.first(session, { key });
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
