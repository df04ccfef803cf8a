import type { AdminTables } from '@octavo/admin';
import type { HealthTables, Session, WriteSession } from '@octavo/data';
import type { LimitTables } from '@octavo/data/limits';
import type { AccountTables } from '@octavo/people/accounts';
import type { OidcTables } from '@octavo/people/sign-in';
import type { Page } from '@octavo/web/rest';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type Counts,
  type Filters,
  type Investment,
  type Kind,
  type ListRequest,
  lists,
  type Member,
  type RecordOf,
  type Sector,
} from '../records.ts';
import { tokensOf } from '../words.ts';

export interface Tables extends AccountTables, AdminTables, OidcTables, LimitTables, HealthTables {
  member: MemberRow;
  sector: SectorRow;
  investment: InvestmentRow;
  member_sector: { member_id: string; sector_id: string; place: number };
  investment_member: { investment_id: string; member_id: string; place: number };
  sector_lead: { sector_id: string; member_id: string; place: number };
  demo_load: { only_row: number; loaded_at_ms: number };
  import_upload: UploadRow;
}

/** `result` is JSON. */
export interface UploadRow {
  id: string;
  user_id: number;
  name: string;
  content: string;
  result: string | null;
  expires_at_ms: number;
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
/** Filters of a list; `key` is the id or the slug of a record. */
type Narrowed<K extends Kind> = Filters[K] & { readonly key?: string };
type Conditions<K extends Kind> = {
  readonly [F in keyof Narrowed<K>]-?: (value: NonNullable<Narrowed<K>[F]>) => Condition;
};

const isKey = (key: string) => sql<SqlBool>`(id = ${plainKey(key)} or slug = ${plainKey(key)})`;

/** Condition on a row for each filter. */
const conditions: { readonly [K in Kind]: Conditions<K> } = {
  team: {
    key: isKey,
    q: (text) => hasWords('all_words', text),
    name: (text) => hasWords('name_words', text),
    role: (text) => hasWords('role_words', text),
    location: (text) => hasWords('location_words', text),
    sector: (text) => sql`exists (select 1 from member_sector join sector on sector.id = sector_id
      where member_id = member.id and ${isMeant('sector', text)})`,
  },
  investments: {
    key: isKey,
    q: (text) => hasWords('all_words', text),
    name: (text) => hasWords('company_words', text),
    stage: (text) => hasWords('stage_words', text.replaceAll('_', ' ')),
    // By its code, or by words of its name.
    country: (text) =>
      /^[a-z]{2}$/i.test(text) ? sql`lower(country) = ${plainKey(text)}` : hasWords('country_words', text),
    status: (status) => sql`status = ${status}`,
    min_amount: (least) => sql`amount_minor >= ${least}`,
    max_amount: (most) => sql`amount_minor <= ${most}`,
    from: (day) => sql`invested_on >= ${day}`,
    to: (day) => sql`invested_on <= ${day}`,
    sector: (text) =>
      sql`exists (select 1 from sector where sector.id = sector_id and ${isMeant('sector', text)})`,
    team_member: (text) => sql`exists (select 1 from investment_member join member on member.id = member_id
      where investment_id = investment.id and ${isMeant('member', text)})`,
  },
  sectors: {
    key: isKey,
    q: (text) => hasWords('all_words', text),
    name: (text) => hasWords('name_words', text),
  },
};

/** A part of the list of each kind. */
export const listRecords: {
  readonly [K in Kind]: (store: Store, filter: Narrowed<K>, page: ListRequest) => Promise<Page<RecordOf[K]>>;
} = { team: listMembers, investments: listInvestments, sectors: listSectors };

async function listMembers(store: Store, filter: Narrowed<'team'>, page: ListRequest): Promise<Page<Member>> {
  const { rows, total } = await pageOf<'team', MemberRow>(store, { kind: 'team', filter }, page);
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

async function listInvestments(
  store: Store,
  filter: Narrowed<'investments'>,
  page: ListRequest,
): Promise<Page<Investment>> {
  const list = { kind: 'investments', filter } as const;
  const { rows, total } = await pageOf<'investments', InvestmentRow>(store, list, page);
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

async function listSectors(
  store: Store,
  filter: Narrowed<'sectors'>,
  page: ListRequest,
): Promise<Page<Sector>> {
  type Row = SectorRow & Pick<Sector, 'investment_count' | 'total_amount_minor'>;
  const { rows, total } = await pageOf<'sectors', Row>(store, { kind: 'sectors', filter }, page);
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

/** True if a start or an import claimed it before, so that the demo data is not loaded by itself. */
export async function isDemoLoadClaimed({ kysely }: Store): Promise<boolean> {
  return (await kysely.selectFrom('demo_load').select('only_row').executeTakeFirst()) !== undefined;
}

/** True once in the life of a database: only then the demo data may be loaded at a start. Imports claim it too. */
export async function claimDemoLoad(store: Store, nowMs: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await store.kysely
    .insertInto('demo_load')
    .values({ only_row: 1, loaded_at_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** The tables between two others, by whose members their rows are. */
export const relations = {
  member_sector: { owner: 'member_id', member: 'sector_id' },
  sector_lead: { owner: 'sector_id', member: 'member_id' },
  investment_member: { owner: 'investment_id', member: 'member_id' },
} as const;
export type Relation = keyof typeof relations;

/** Sets who belongs to a record, in that order. */
export async function replaceMembers(
  { kysely }: WriteSession<Tables>,
  relation: Relation,
  { id, members }: { id: string; members: readonly string[] },
): Promise<void> {
  const { owner, member } = relations[relation];
  await sql`delete from ${sql.table(relation)} where ${sql.ref(owner)} = ${id}`.execute(kysely);
  const columns = sql.join([owner, member, 'place'].map((column) => sql.ref(column)));
  for (const [place, each] of members.entries())
    await sql`insert into ${sql.table(relation)} (${columns}) values (${id}, ${each}, ${place})`.execute(
      kysely,
    );
}

async function pageOf<K extends Kind, Row>(
  store: Store,
  { kind, filter }: { kind: K; filter: Narrowed<K> },
  { limit, offset, sort }: ListRequest,
): Promise<{ rows: Row[]; total: number }> {
  const own: Readonly<Record<string, (value: never) => Condition>> = conditions[kind];
  const wanted = Object.entries(filter).flatMap(([name, value]) => own[name]?.(value as never) ?? []);
  const table = sql.table(tables[kind]);
  const from = sql`from ${table} where ${sql.join([sql`1 = 1`, ...wanted], sql` and `)}`;
  const counted = await sql<{ total: number }>`select count(*) as total ${from}`.execute(store.kysely);
  const sorted = sql`order by ${order(store, lists[kind].sorts, sort)}`;
  // Those before the page are read from an index, if the order has one.
  const ids = sql`select id ${from} ${sorted} limit ${limit} offset ${offset}`;
  const { rows } = await sql<Row>`select * from ${table} where id in (${ids}) ${sorted}`.execute(
    store.kysely,
  );
  return { rows, total: counted.rows[0]?.total ?? 0 };
}

const tables = { team: 'member', investments: 'investment', sectors: 'sector_totals' } as const;

/** Columns of an order that may be null. */
const nullable: ReadonlySet<string> = new Set(['joined_on', 'exited_on']);

/** Order that is the same on both databases: texts by code point, and missing values last. Migrations have indexes in these words. */
function order(store: Store, columns: Readonly<Record<string, string>>, sort: string) {
  const name = columns[sort.replace(/^-/, '')] ?? 'id';
  const column = sql.ref(name);
  const direction = sql.raw(sort.startsWith('-') ? 'desc' : 'asc');
  const isText = store.dialect === 'postgres' && !/_(ms|minor|count)$/.test(name);
  const byValue = sql`${isText ? sql`${column} collate "C"` : column} ${direction}`;
  const bySlug = store.dialect === 'postgres' ? sql`slug collate "C"` : sql`slug`;
  return nullable.has(name)
    ? sql`case when ${column} is null then 1 else 0 end, ${byValue}, ${bySlug}`
    : sql`${byValue}, ${bySlug}`;
}

/** Condition that a text identifies a row: by its id, its slug, or words of its name. */
function isMeant(table: 'sector' | 'member', text: string): Condition {
  const [id, slug] = [sql.ref(`${table}.id`), sql.ref(`${table}.slug`)];
  return sql`(${id} = ${plainKey(text)} or ${slug} = ${plainKey(text)} or ${hasWords(`${table}.name_words`, text)})`;
}

/** Condition that each word of a text begins a word of the column; a text without words matches nothing. */
function hasWords(column: string, text: string): Condition {
  const patterns = tokensOf(text).map((word) => `% ${word.replace(/[\\%_]/g, '\\$&')}%`);
  if (patterns.length === 0) return sql`1 = 0`;
  const each = patterns.map((pattern) => sql`${sql.ref(column)} like ${pattern} escape '\\'`);
  return sql`(${sql.join(each, sql` and `)})`;
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

/** Ids for `in (…)`, which must not be empty. */
function idsOf(rows: readonly { id: string }[]) {
  return sql.join(['', ...rows.map(({ id }) => id)]);
}

function timeOf({ updated_at_ms }: { updated_at_ms: number }): string {
  return new Date(updated_at_ms).toISOString();
}
