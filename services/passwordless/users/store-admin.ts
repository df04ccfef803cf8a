import type { ListFilter, ListPage, ListQuery } from '@octavo/admin';
import type { Session } from '@octavo/data';
import { containsWord } from '@octavo/data/search';
import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '../store/store.ts';
import { toUser } from './store.ts';
import type { User } from './user.ts';

/** Totals are exact up to this. */
const exactTotalMax = 10_000;

const columns = {
  email: 'email',
  verified: 'verified',
  lastSignIn: 'last_sign_in_at_ms',
  created: 'created_at_ms',
} as const;
const columnOf = (name: string) => columns[name as keyof typeof columns];

/** A page of the users for the admin. */
export async function listUsers(
  store: Session<Tables>,
  query: ListQuery,
): Promise<Omit<ListPage, 'rows'> & { readonly users: User[] }> {
  const { sort, offset, limit } = query;
  const matching = matchingUsers(store, query);
  const sorted = sort.reduce(
    (users, { name, isDescending }) => users.orderBy(columnOf(name), isDescending ? 'desc' : 'asc'),
    matching.selectAll(),
  );
  const counted = store.kysely
    .selectFrom(
      matching
        .select('id')
        .limit(exactTotalMax + 1)
        .as('matching'),
    )
    .select((eb) => eb.fn.countAll<number>().as('total'));
  const [rows, { total }] = await Promise.all([
    sorted.orderBy('id').limit(limit).offset(offset).execute(),
    counted.executeTakeFirstOrThrow(),
  ]);
  const isCapped = total > exactTotalMax;
  return { users: rows.map(toUser), total: Math.min(total, exactTotalMax), isCapped };
}

type Users = SelectQueryBuilder<Tables, 'user', object>;

function matchingUsers(
  { kysely, dialect }: Session<Tables>,
  { words, filters }: Pick<ListQuery, 'words' | 'filters'>,
): Users {
  const found = words.reduce<Users>(
    (rows, word) => rows.where(containsWord(dialect, sql.ref('email'), word)),
    kysely.selectFrom('user'),
  );
  return filters.reduce(narrow, found);
}

function narrow(users: Users, { name, equals, from, until }: ListFilter): Users {
  const column = sql.ref(columnOf(name));
  const same = equals === undefined ? users : users.where(sql<SqlBool>`${column} = ${equals}`);
  const after = from === undefined ? same : same.where(sql<SqlBool>`${column} >= ${from}`);
  return until === undefined ? after : after.where(sql<SqlBool>`${column} < ${until}`);
}
