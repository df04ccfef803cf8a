import { sql } from 'kysely';
import { type Session, type Statement, statement } from '#kit/db/index.ts';
import type { PostOrder } from '../post.ts';
import type { Tables } from '../tables.ts';
import { kinds } from './pages.ts';

/** What posts are put in order by. */
export interface Key {
  readonly id: number;
  readonly key: string | number;
}

/** An order in which a segment keeps its posts. */
export interface KeptOrder {
  readonly kind: number;
  /** Where posts stand whose ids are given as JSON. */
  readonly keys: Statement<{ ids: string }, Key>;
  /** The ids of a range in this order. */
  readonly idsInOrder: Statement<{ fromId: number; toId: number }, { id: number }>;
}

export const keptOrders: Readonly<Record<Exclude<PostOrder, 'id'>, KeptOrder>> = {
  title: { kind: kinds.byTitle, keys: keysBy('title'), idsInOrder: idsBy('title') },
  updated: { kind: kinds.byUpdate, keys: keysBy('updated_at_ms'), idsInOrder: idsBy('updated_at_ms') },
};

/** As both databases put them: numbers by value, text by code point, equal ones by id. */
export function compareKeys(a: Key, b: Key): number {
  if (a.key === b.key) return a.id - b.id;
  if (typeof a.key === 'string' && typeof b.key === 'string') return compareCodePoints(a.key, b.key);
  return (a.key as number) - (b.key as number);
}

export async function keysOf(
  session: Session<Tables>,
  order: KeptOrder,
  ids: readonly number[],
): Promise<Key[]> {
  return order.keys.all(session, { ids: JSON.stringify(ids) });
}

function keysBy(column: string): KeptOrder['keys'] {
  return statement<Tables, { ids: string }, Key>(
    (_db, p) => sql`SELECT post.id, post.${sql.ref(column)} AS key FROM json_each(${p('ids')}) AS wanted
      CROSS JOIN post ON post.id = wanted.value`,
  );
}

function idsBy(column: string): KeptOrder['idsInOrder'] {
  return statement<Tables, { fromId: number; toId: number }, { id: number }>(
    (_db, p) =>
      sql`SELECT id FROM post WHERE id >= ${p('fromId')} AND id < ${p('toId')} ORDER BY ${sql.ref(column)}, id`,
  );
}

/** UTF-16 units put what lies beyond U+FFFF before U+E000. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [first, second] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (first === second) continue;
    const isPair = (unit: number) => unit >= 0xd800 && unit < 0xe000;
    if (isPair(first) !== isPair(second)) return isPair(first) ? 1 : -1;
    return first - second;
  }
  return a.length - b.length;
}
