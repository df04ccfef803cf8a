import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AccountTables } from '#kit/accounts/index.ts';
import type { AdminTables } from '#kit/admin/index.ts';
import type { Session } from '#kit/db/index.ts';
import {
  type Counts,
  type Filters,
  type Found,
  type Investment,
  lists,
  type Member,
  type Page,
  type Sector,
} from './records.ts';
import { tokensOf } from './words.ts';

export interface Tables extends AccountTables, AdminTables {
  member: MemberRow;
  sector: SectorRow;
  investment: InvestmentRow;
  member_sector: { member_id: string; sector_id: string; place: number };
  investment_member: { investment_id: string; member_id: string; place: number };
  sector_lead: { sector_id: string; member_id: string; place: number };
  demo_load: { only_row: number; loaded_at_ms: number };
}

type Words<K extends string> = { [column in `${K}_words`]: string } & { updated_at_ms: number };
/** `links` is JSON. */
export type MemberRow = Omit<Member, 'sectors' | 'investment_ids' | 'links' | 'updated_at'> &
  Words<'name' | 'role' | 'location' | 'all'> & { links: string };
export type InvestmentRow = Omit<Investment, 'sector' | 'team_ids' | 'updated_at'> &
  Words<'company' | 'stage' | 'country' | 'all'> & { sector_id: string };
export type SectorRow = Omit<Sector, 'lead_ids' | 'investment_count' | 'total_amount_minor'> &
  Words<'name' | 'all'>;

type Store = Session<Tables>;
type Condition = RawBuilder<SqlBool>;
/** A record by its id or its slug. */
type Key = { readonly key?: string };

export async function listMembers(
  store: Store,
  filter: Filters['team'] & Key,
  page: Page,
): Promise<Found<Member>> {
  const { rows, total } = await pageOf<MemberRow>(store, 'team', page, [
    ...isKey(filter.key),
    ...hasWords('all_words', filter.q),
    ...hasWords('name_words', filter.name),
    ...hasWords('role_words', filter.role),
    ...hasWords('location_words', filter.location),
    ...ifGiven(
      filter.sector,
      (
        sector,
      ) => sql`exists (select 1 from member_sector of_member join sector on sector.id = of_member.sector_id
        where of_member.member_id = member.id and ${isMeant('sector', sector)})`,
    ),
  ]);
  const ids = idsOf(rows);
  const sectors = await valuesById(
    store,
    sql`select member_id as id, slug as value from member_sector join sector on sector.id = sector_id
      where member_id in (${ids}) order by place`,
  );
  const deals = await valuesById(
    store,
    sql`select member_id as id, investment_id as value from investment_member
      join investment on investment.id = investment_id
      where member_id in (${ids}) order by invested_on desc, investment_id`,
  );
  const items = rows.map((row) => ({
    ...row,
    sectors: sectors.get(row.id) ?? [],
    investment_ids: deals.get(row.id) ?? [],
    links: JSON.parse(row.links),
    updated_at: timeOf(row),
  }));
  return { items, total };
}

export async function listInvestments(
  store: Store,
  filter: Filters['investments'] & Key,
  page: Page,
): Promise<Found<Investment>> {
  const { rows, total } = await pageOf<InvestmentRow>(store, 'investments', page, [
    ...isKey(filter.key),
    ...hasWords('all_words', filter.q),
    ...hasWords('company_words', filter.name),
    ...hasWords('stage_words', filter.stage?.replaceAll('_', ' ')),
    ...isCountry(filter.country),
    ...ifGiven(filter.status, (status) => sql`status = ${status}`),
    ...ifGiven(filter.min_amount, (least) => sql`amount_minor >= ${least}`),
    ...ifGiven(filter.max_amount, (most) => sql`amount_minor <= ${most}`),
    ...ifGiven(filter.from, (day) => sql`invested_on >= ${day}`),
    ...ifGiven(filter.to, (day) => sql`invested_on <= ${day}`),
    ...ifGiven(
      filter.sector,
      (sector) =>
        sql`exists (select 1 from sector where sector.id = investment.sector_id and ${isMeant('sector', sector)})`,
    ),
    ...ifGiven(
      filter.team_member,
      (
        member,
      ) => sql`exists (select 1 from investment_member of_deal join member on member.id = of_deal.member_id
          where of_deal.investment_id = investment.id and ${isMeant('member', member)})`,
    ),
  ]);
  const sectors = await valuesById(store, sql`select id, slug as value from sector`);
  const members = await valuesById(
    store,
    sql`select investment_id as id, member_id as value from investment_member
      where investment_id in (${idsOf(rows)}) order by place`,
  );
  const items = rows.map((row) => ({
    ...row,
    sector: sectors.get(row.sector_id)?.[0] ?? '',
    team_ids: members.get(row.id) ?? [],
    updated_at: timeOf(row),
  }));
  return { items, total };
}

export async function listSectors(
  store: Store,
  filter: Filters['sectors'] & Key,
  page: Page,
): Promise<Found<Sector>> {
  type Row = SectorRow & Pick<Sector, 'investment_count' | 'total_amount_minor'>;
  const { rows, total } = await pageOf<Row>(store, 'sectors', page, [
    ...isKey(filter.key),
    ...hasWords('all_words', filter.q),
    ...hasWords('name_words', filter.name),
  ]);
  const leads = await valuesById(
    store,
    sql`select sector_id as id, member_id as value from sector_lead
      where sector_id in (${idsOf(rows)}) order by place`,
  );
  return { items: rows.map((row) => ({ ...row, lead_ids: leads.get(row.id) ?? [] })), total };
}

export async function countRecords(store: Store): Promise<Counts> {
  const counted = sql<Counts>`select (select count(*) from member) as team,
    (select count(*) from investment) as investments, (select count(*) from sector) as sectors`;
  return (await counted.execute(store.kysely)).rows[0] as Counts;
}

/** True once in the life of a database: whoever gets it loads the demo data. */
export async function claimDemoLoad(store: Store, nowMs: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await store.kysely
    .insertInto('demo_load')
    .values({ only_row: 1, loaded_at_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

async function pageOf<Row>(
  store: Store,
  kind: keyof typeof lists,
  { limit, offset, sort }: Page,
  conditions: readonly Condition[],
): Promise<{ rows: Row[]; total: number }> {
  const from = sql`from ${sql.table(tables[kind])} where ${sql.join([sql`1 = 1`, ...conditions], sql` and `)}`;
  const counted = await sql<{ total: number }>`select count(*) as total ${from}`.execute(store.kysely);
  const { rows } = await sql<Row>`select * ${from} order by ${order(store, lists[kind].sorts, sort)}, slug
    limit ${limit} offset ${offset}`.execute(store.kysely);
  return { rows, total: counted.rows[0]?.total ?? 0 };
}

const tables = { team: 'member', investments: 'investment', sectors: 'sector_totals' } as const;

/** The same on both databases: texts by code point, and what is missing last. */
function order(store: Store, columns: Readonly<Record<string, string>>, sort: string) {
  const name = columns[sort.replace(/^-/, '')] ?? 'id';
  const column = sql.ref(name);
  const isText = store.dialect === 'postgres' && !/_(ms|minor|count)$/.test(name);
  const value = isText ? sql`${column} collate "C"` : column;
  return sql`case when ${column} is null then 1 else 0 end, ${value} ${sql.raw(sort.startsWith('-') ? 'desc' : 'asc')}`;
}

function isKey(key: string | undefined): Condition[] {
  return ifGiven(key, (given) => sql`(id = ${plainKey(given)} or slug = ${plainKey(given)})`);
}

/** Whether a text means a row of the table: its id, its slug, or words of its name. */
function isMeant(table: 'sector' | 'member', text: string): Condition {
  const [id, slug] = [sql.ref(`${table}.id`), sql.ref(`${table}.slug`)];
  const named = sql.join(hasWords(`${table}.name_words`, text), sql` and `);
  return sql`(${id} = ${plainKey(text)} or ${slug} = ${plainKey(text)} or (${named}))`;
}

/** Whether each word of a text begins a word of the column; a text without words is in nothing. */
function hasWords(column: string, text: string | undefined): Condition[] {
  if (text === undefined) return [];
  const patterns = tokensOf(text).map((word) => `% ${word.replace(/[\\%_]/g, '\\$&')}%`);
  if (patterns.length === 0) return [sql`1 = 0`];
  return patterns.map((pattern) => sql`${sql.ref(column)} like ${pattern} escape '\\'`);
}

/** By its code, or by words of its name. */
function isCountry(text: string | undefined): Condition[] {
  const isCode = /^[a-z]{2}$/i.test(text ?? '');
  return isCode ? [sql`lower(country) = ${plainKey(text ?? '')}`] : hasWords('country_words', text);
}

function ifGiven<T>(value: T | undefined, condition: (value: T) => RawBuilder<unknown>): Condition[] {
  return value === undefined ? [] : [condition(value) as Condition];
}

function plainKey(text: string): string {
  return text.trim().normalize('NFC').toLowerCase();
}

/** Values by the id that they belong to. */
async function valuesById(store: Store, query: RawBuilder<unknown>): Promise<Map<string, string[]>> {
  const { rows } = await (query as RawBuilder<{ id: string; value: string }>).execute(store.kysely);
  const groups = Map.groupBy(rows, ({ id }) => id);
  return new Map([...groups].map(([id, group]) => [id, group.map(({ value }) => value)]));
}

/** For `in (…)`, which must not be empty. */
function idsOf(rows: readonly { id: string }[]) {
  return sql.join(['', ...rows.map(({ id }) => id)]);
}

function timeOf({ updated_at_ms }: { updated_at_ms: number }): string {
  return new Date(updated_at_ms).toISOString();
}
