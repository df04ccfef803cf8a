import { type Statement, statement, type WriteSession } from '@octavo/data';
import { sql } from 'kysely';
import type { Store, Tables } from '../database.ts';
import { StatisticsDelta } from './delta.ts';

export interface Analytics {
  readonly totalPosts: number;
  readonly totalCharacters: number;
  readonly uniqueCharacters: number;
  readonly topCharacters: readonly { readonly codePoint: number; readonly count: number }[];
  readonly medianPostLength: number;
  readonly postsPerUser: ReadonlyMap<number, number>;
  /** Posts by UTC hour of creation. */
  readonly postsPerHour: readonly number[];
}

/** Ids for new posts: the id before the first, and the time of their creation. */
export interface ReservedIds {
  readonly lastId: number;
  readonly createdAtMs: number;
}

const topCharactersMax = 20;
export const dayMs = 86_400_000;

/** Adds a delta to the stored statistics. */
export async function addStatistics(session: WriteSession<Tables>, delta: StatisticsDelta): Promise<void> {
  const { posts, characters } = delta;
  if (posts !== 0 || characters !== 0) {
    await session.kysely
      .updateTable('post_total')
      .set((e) => ({
        posts: e('posts', '+', posts),
        characters: e('characters', '+', characters),
      }))
      .execute();
  }
  await addCounts(session, delta);
}

/** Takes ids for new posts and adds them to the statistics. Time never runs backward: where the clock did, they get the last one's. */
export async function addNewPosts(
  session: WriteSession<Tables>,
  delta: StatisticsDelta,
  nowMs: number,
): Promise<ReservedIds> {
  const { posts, characters } = delta;
  const reserved = await reserve.first(session, { posts, characters, nowMs });
  if (!reserved) throw new Error('the row of post_total is missing');
  const { lastId, createdAtMs } = reserved;
  // Set, not added: the transaction may run again.
  delta.hours.clear();
  delta.addTime(createdAtMs, posts);
  await addCounts(session, delta);
  return { lastId: lastId - posts, createdAtMs };
}

/** The id that was given to a post last. */
export async function lastPostId(session: Store): Promise<number> {
  return (await totals(session))?.lastId ?? 0;
}

/** Counts the posts of everybody or of one user. */
export async function countPosts(session: Store, userId: number | undefined): Promise<number> {
  const counted = userId === undefined ? await totals(session) : await postsOfUser(session, userId);
  return counted?.posts ?? 0;
}

/** Exact statistics of all posts, from the stored sums. */
export async function readAnalytics(session: Store): Promise<Analytics> {
  const total = await totals(session);
  const totalPosts = total?.posts ?? 0;
  const byHour = new Map((await hours(session)).map(({ key, count }) => [key, count]));
  return {
    totalPosts,
    totalCharacters: total?.characters ?? 0,
    uniqueCharacters: (await uniqueCharacters(session))?.count ?? 0,
    topCharacters: await topCharacters(session),
    medianPostLength: await medianLength(session, totalPosts),
    postsPerUser: new Map((await users(session)).map(({ key, count }) => [key, count])),
    postsPerHour: Array.from({ length: 24 }, (_, hour) => byHour.get(hour) ?? 0),
  };
}

/** The middle length, or the floor of the mean of the two in the middle. */
async function medianLength(session: Store, totalPosts: number): Promise<number> {
  if (totalPosts === 0) return 0;
  const [lower, upper] = [Math.floor((totalPosts + 1) / 2), Math.floor(totalPosts / 2) + 1];
  const middle = await middleLengths(session, { lower, upper });
  return Math.floor(((middle?.lower ?? 0) + (middle?.upper ?? 0)) / 2);
}

/** The stored sums as one delta, to compare with a count of the posts. */
export async function readStored(session: Store): Promise<StatisticsDelta> {
  const stored = new StatisticsDelta();
  const total = await totals(session);
  stored.posts = total?.posts ?? 0;
  stored.characters = total?.characters ?? 0;
  for (const { key, count } of await users(session)) stored.users.set(key, count);
  for (const { key, count } of await lengths(session)) stored.lengths.set(key, count);
  for (const { key, count } of await hours(session)) stored.hours.set(key, count);
  for (const { key, count } of await characters(session)) stored.addCharacter(key, count);
  return stored;
}

async function addCounts(session: WriteSession<Tables>, delta: StatisticsDelta): Promise<void> {
  await increase(session, increaseUsers, delta.users);
  await increase(session, increaseLengths, delta.lengths);
  await increase(session, increaseHours, delta.hours);
  await increase(session, increaseCharacters, delta.characterCounts());
}

async function increase(
  session: WriteSession<Tables>,
  statement: Statement<{ counts: string }, unknown>,
  counts: Iterable<[number, number]>,
): Promise<void> {
  let json = '';
  for (const [key, by] of counts) if (by !== 0) json += `${json === '' ? '{' : ','}"${key}":${by}`;
  if (json !== '') await statement.run(session, { counts: `${json}}` });
}

const increaseUsers = increaseStatement('user_tally', 'user_id', 'posts');
const increaseLengths = increaseStatement('length_tally', 'length', 'posts');
const increaseHours = increaseStatement('hour_tally', 'hour', 'posts');
const increaseCharacters = increaseStatement('character_tally', 'code_point', 'occurrences');

/** One statement for any number of counts, given as a JSON object of increases by key. */
function increaseStatement(tableName: string, keyName: string, countName: string) {
  const [table, key, count] = [sql.table(tableName), sql.ref(keyName), sql.ref(countName)];
  return statement<Tables, { counts: string }>()((_db, p, dialect) => {
    const pairs =
      dialect === 'sqlite'
        ? sql`SELECT CAST(key AS integer), value FROM json_each(${p('counts')}) WHERE true`
        : sql`SELECT key::bigint, value::bigint FROM jsonb_each_text(${p('counts')}::jsonb)`;
    return sql`INSERT INTO ${table} (${key}, ${count}) ${pairs}
      ON CONFLICT (${key}) DO UPDATE SET ${count} = ${table}.${count} + excluded.${count}`;
  });
}

const reserve = statement<Tables, { posts: number; characters: number; nowMs: number }>()((db, p) =>
  db
    .updateTable('post_total')
    .set((e) => ({
      last_id: e('last_id', '+', p('posts')),
      posts: e('posts', '+', p('posts')),
      characters: e('characters', '+', p('characters')),
      last_created_at_ms: e
        .case()
        .when('last_created_at_ms', '>', p('nowMs'))
        .then(e.ref('last_created_at_ms'))
        .else(p('nowMs'))
        .end(),
    }))
    .returning(['last_id as lastId', 'last_created_at_ms as createdAtMs']),
);

function totals({ kysely }: Store) {
  return kysely
    .selectFrom('post_total')
    .select(['posts', 'characters', 'last_id as lastId'])
    .executeTakeFirst();
}

function postsOfUser({ kysely }: Store, userId: number) {
  return kysely.selectFrom('user_tally').select('posts').where('user_id', '=', userId).executeTakeFirst();
}

function users({ kysely }: Store) {
  return kysely
    .selectFrom('user_tally')
    .select(['user_id as key', 'posts as count'])
    .where('posts', '>', 0)
    .orderBy('user_id')
    .execute();
}

function lengths({ kysely }: Store) {
  return kysely.selectFrom('length_tally').select(['length as key', 'posts as count']).execute();
}

function hours({ kysely }: Store) {
  return kysely.selectFrom('hour_tally').select(['hour as key', 'posts as count']).execute();
}

function characters({ kysely }: Store) {
  return kysely.selectFrom('character_tally').select(['code_point as key', 'occurrences as count']).execute();
}

function uniqueCharacters({ kysely }: Store) {
  return kysely
    .selectFrom('character_tally')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('occurrences', '>', 0)
    .executeTakeFirst();
}

function topCharacters({ kysely }: Store) {
  return kysely
    .selectFrom('character_tally')
    .select(['code_point as codePoint', 'occurrences as count'])
    .where('occurrences', '>', 0)
    .orderBy('occurrences', 'desc')
    .orderBy('code_point')
    .limit(topCharactersMax)
    .execute();
}

/** The lengths of the posts at two positions, counted from 1, in the order of length. */
async function middleLengths({ kysely }: Store, { lower, upper }: { lower: number; upper: number }) {
  const { rows } = await sql<{
    lower: number | null;
    upper: number | null;
  }>`WITH reach AS (SELECT length, sum(posts) OVER (ORDER BY length) AS posts FROM length_tally)
    SELECT min(CASE WHEN posts >= ${lower} THEN length END) AS lower,
      min(CASE WHEN posts >= ${upper} THEN length END) AS upper FROM reach`.execute(kysely);
  return rows[0];
}

/** Posts that were created on one day (UTC), and how those of them read that were classified. */
export interface DayCount {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly posts: number;
  readonly positive: number;
  readonly neutral: number;
  readonly negative: number;
}

/** Counts posts by day, from a day on. It reads indexes only: ids rise with the time of creation, so the posts of a day have the ids from its first to its last. */
export function dayCounts(firstDay: number) {
  const labeled = (label: string) => sql`(SELECT count(*) FROM post_sentiment
    WHERE label = ${sql.lit(label)} AND post_id BETWEEN by_day.first_id AND by_day.last_id)`;
  return sql<DayCount>`WITH by_day AS (SELECT created_at_ms / ${sql.lit(dayMs)} AS day, count(*) AS posts,
      min(id) AS first_id, max(id) AS last_id FROM post WHERE created_at_ms >= ${firstDay * dayMs} GROUP BY 1)
    SELECT day, posts, ${labeled('positive')} AS positive, ${labeled('neutral')} AS neutral, ${labeled('negative')} AS negative
    FROM by_day`;
}

/** Selects the fields of posts that statistics count, in order of id. */
export function postsAfter({ kysely }: Store, after: number, limit: number) {
  return kysely
    .selectFrom('post')
    .select(['id', 'user_id as userId', 'title', 'body', 'created_at_ms as createdAtMs'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
}

export function readRepairs({ kysely }: Store) {
  return kysely.selectFrom('statistics_repair').select('repairs').executeTakeFirst();
}

/** Changes nothing if another process has repaired since. */
export function claimRepair({ kysely }: Store, repairs: number) {
  return kysely
    .updateTable('statistics_repair')
    .set((e) => ({ repairs: e('repairs', '+', 1) }))
    .where('repairs', '=', repairs)
    .executeTakeFirst();
}

/** The newest post up to an id. */
export function postUpTo({ kysely }: Store, upTo: number) {
  return kysely
    .selectFrom('post')
    .selectAll()
    .where('id', '<=', upTo)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}
