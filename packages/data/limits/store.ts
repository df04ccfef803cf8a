import { type RawBuilder, sql } from 'kysely';
import type { Dialect, Session } from '../db/index.ts';
import type { PackageMigrations } from '../db/migrations.ts';

/** The table of {@link SharedLimits}, for `migrations` of a service. */
export const limitMigrations: PackageMigrations = {
  folder: new URL('./migrations/', import.meta.url),
  prefix: 'limits',
  versionsFrom: 60_000,
};

/** The table that the migrations create. `times` is a JSON array of milliseconds since 1970. */
export interface LimitTables {
  rate_limit: { key: string; times: string; until_ms: number };
}

type Store = Session<LimitTables>;

export interface CountedRequest {
  readonly key: string;
  readonly nowMs: number;
  readonly windowMs: number;
  readonly requestsMax: number;
}

/**
 * Counts a request if fewer than `requestsMax` are in the window. Returns the times of those in it, with the new one, or undefined if it
 * was refused. One statement, so that requests at the same moment, in any process, cannot get past the limit.
 */
export async function countRequest(
  { kysely, dialect }: Store,
  { key, nowMs, windowMs, requestsMax }: CountedRequest,
): Promise<number[] | undefined> {
  const now = sql`cast(${nowMs} as bigint)`;
  const { all, value, append } = arrays[dialect];
  const inWindow = sql`from ${all} where ${value} > cast(${nowMs - windowMs} as bigint)`;
  const { rows } = await sql<{ times: string }>`
    insert into rate_limit (key, times, until_ms) values (${key}, ${JSON.stringify([nowMs])}, ${nowMs + windowMs})
    on conflict (key) do update set times = ${append(inWindow, now)}, until_ms = excluded.until_ms
    where (select count(*) ${inWindow}) < ${requestsMax}
    returning times`.execute(kysely);
  return rows[0] && timesOf(rows[0]);
}

/** The times of the requests in the window. */
export async function countedRequests(
  { kysely }: Store,
  { key, nowMs, windowMs }: Omit<CountedRequest, 'requestsMax'>,
): Promise<number[]> {
  const row = await kysely.selectFrom('rate_limit').select('times').where('key', '=', key).executeTakeFirst();
  return row ? timesOf(row).filter((timeMs) => timeMs > nowMs - windowMs) : [];
}

/** Undoes the count of one request that came at a time. */
export async function uncountRequest(
  { kysely, dialect }: Store,
  { key, timeMs }: { key: string; timeMs: number },
): Promise<void> {
  const { all, value, without } = arrays[dialect];
  const is = sql`${value} = cast(${timeMs} as bigint)`;
  await sql`update rate_limit set times = ${without(sql`from ${all} where ${is}`)}
    where key = ${key} and exists (select 1 from ${all} where ${is})`.execute(kysely);
}

/** Deletes what no longer counts. */
export async function sweepCounts({ kysely }: Store, nowMs: number): Promise<void> {
  await kysely
    .deleteFrom('rate_limit')
    .where('key', 'in', (eb) =>
      eb.selectFrom('rate_limit').select('key').where('until_ms', '<=', nowMs).limit(5_000),
    )
    .execute();
}

type Fragment = RawBuilder<unknown>;

/** The elements of `rate_limit.times` as rows, each one's value, and the array with one more or one less. */
const arrays: Readonly<
  Record<
    Dialect,
    {
      readonly all: Fragment;
      readonly value: Fragment;
      append(some: Fragment, last: Fragment): Fragment;
      without(found: Fragment): Fragment;
    }
  >
> = {
  sqlite: {
    all: sql`json_each(rate_limit.times)`,
    value: sql`value`,
    append: (some, last) => sql`json_insert((select json_group_array(value) ${some}), '$[#]', ${last})`,
    without: (found) => sql`json_remove(times, '$[' || (select key ${found} limit 1) || ']')`,
  },
  postgres: {
    all: sql`jsonb_array_elements(rate_limit.times::jsonb) with ordinality as hit (value, place)`,
    value: sql`hit.value::bigint`,
    append: (some, last) =>
      sql`(coalesce((select jsonb_agg(hit.value) ${some}), '[]') || to_jsonb(${last}))::text`,
    without: (found) => sql`(times::jsonb - (select place::int - 1 ${found} limit 1))::text`,
  },
};

function timesOf({ times }: { times: string }): number[] {
  return JSON.parse(times) as number[];
}
