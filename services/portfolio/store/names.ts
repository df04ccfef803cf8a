import type { Session } from '@octavo/data';
import { sql } from 'kysely';
import type { Tables } from './store.ts';

type Store = Session<Tables>;

export interface Named {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

/** People by their ids. */
export async function membersById({ kysely }: Store, ids: readonly string[]): Promise<Map<string, Named>> {
  const rows = await kysely
    .selectFrom('member')
    .select(['id', 'slug', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** All sectors by their slugs, in the order of their names. */
export async function sectorsBySlug({ kysely }: Store): Promise<Map<string, Named>> {
  const query = kysely.selectFrom('sector').select(['id', 'slug', 'name']).orderBy('name_words');
  return new Map((await query.execute()).map((row) => [row.slug, row]));
}

export interface SectorAmount extends Named {
  readonly currency: string;
  readonly minor: number;
  readonly investments: number;
}

/** Invested amounts by sector and currency, the largest first. A floating sum, for charts. */
export function sectorAmounts({ kysely }: Store): Promise<SectorAmount[]> {
  const sum = sql<number>`sum(cast(amount_minor as double precision))`;
  return kysely
    .selectFrom('investment')
    .innerJoin('sector', 'sector.id', 'investment.sector_id')
    .select([
      'sector.id as id',
      'sector.slug as slug',
      'sector.name as name',
      'investment.currency as currency',
    ])
    .select((eb) => [sum.as('minor'), eb.fn.countAll<number>().as('investments')])
    .groupBy(['sector.id', 'sector.slug', 'sector.name', 'investment.currency'])
    .orderBy('minor', 'desc')
    .orderBy('sector.slug')
    .execute();
}

export interface YearAmount {
  /** Four digits. */
  readonly year: string;
  readonly currency: string;
  readonly minor: number;
  readonly investments: number;
}

/** Invested amounts by year and currency, the earliest first. A floating sum, for charts. */
export function yearAmounts({ kysely }: Store): Promise<YearAmount[]> {
  const year = sql<string>`substr(invested_on, 1, 4)`;
  const sum = sql<number>`sum(cast(amount_minor as double precision))`;
  return kysely
    .selectFrom('investment')
    .select([year.as('year'), 'currency', sum.as('minor')])
    .select((eb) => eb.fn.countAll<number>().as('investments'))
    .groupBy([year, 'currency'])
    .orderBy(year)
    .execute();
}
