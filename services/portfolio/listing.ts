import { AppError, notFound, Type } from '@octavo/core';
import type { Database, Session } from '@octavo/data';
import type { Page } from '@octavo/web/rest';
import { type Filters, type Kind, type ListRequest, lists, type RecordOf } from './records.ts';
import { listRecords, type Tables } from './store/store.ts';

/** One record of each kind, in words. */
export const nouns = { team: 'team member', investments: 'investment', sectors: 'sector' } as const;

const one: ListRequest = { limit: 1, offset: 0, sort: 'updated_at' };

/** Parameters of a list besides its paging. */
export function filtersOf(kind: Kind) {
  const { filter, sorts, sort } = lists[kind];
  const orders = Object.keys(sorts).flatMap((name) => [name, `-${name}`]);
  return { ...filter.properties, sort: Type.Enum(orders, { default: sort }) };
}

/** The records that match all the filters. Throws `validation_failed` for a range that ends before it begins. */
export function listMatching<K extends Kind>(
  store: Session<Tables>,
  kind: K,
  query: Partial<Filters[K]> & ListRequest,
): Promise<Page<RecordOf[K]>> {
  const { limit, offset, sort, ...filter } = query;
  refuseEmptyRange(filter);
  return listRecords[kind](store, filter as Filters[K], { limit, offset, sort });
}

/** A record by its id or slug. Throws `not_found`. */
export async function findRecord<K extends Kind>(
  database: Database<Tables>,
  kind: K,
  key: string,
): Promise<RecordOf[K]> {
  const { items } = await listRecords[kind](database, { key } as Filters[K], one);
  const [found] = items;
  if (!found) throw notFound(nouns[kind], key);
  return found;
}

function refuseEmptyRange(query: Partial<Filters['investments']>): void {
  const { min_amount: least = 0, max_amount: most = Infinity, from = '', to = '9999-12-31' } = query;
  const name = least > most ? 'max_amount' : from > to ? 'to' : undefined;
  if (!name) return;
  const problem = `must not be less than ${name === 'to' ? 'from' : 'min_amount'}`;
  throw new AppError('validation_failed', `${name} ${problem}`, { fields: { [name]: problem } });
}
