import { sql } from 'kysely';
import { type Session, type Statement, statement, type WriteSession } from '#kit/db/index.ts';
import type { Tables } from '../database.ts';
import { StatisticsDelta } from './delta.ts';

export interface Analytics {
  readonly totalPosts: number;
  readonly totalCharacters: number;
  readonly uniqueCharacters: number;
  readonly topCharacters: readonly { readonly codePoint: number; readonly count: number }[];
  readonly medianPostLength: number;
  readonly postsPerUser: ReadonlyMap<number, number>;
  /** By UTC hour of creation. */
  readonly postsPerHour: readonly number[];
}

/** Ids for new posts: the id before the first, and the time of their creation. */
export interface ReservedIds {
  readonly lastId: number;
  readonly createdAtMs: number;
}

const topCharactersMax = 20;

/** Adds a delta to the stored statistics. */
export async function addStatistics(session: WriteSession<Tables>, delta: StatisticsDelta): Promise<void> {
  const { posts, characters } = delta;
  if (posts !== 0 || characters !== 0) await increaseTotals.run(session, { posts, characters });
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
export async function lastPostId(session: Session<Tables>): Promise<number> {
  return (await totals.first(session, {}))?.lastId ?? 0;
}

/** How many posts there are, of everybody or of one user. */
export async function countPosts(session: Session<Tables>, userId: number | undefined): Promise<number> {
  const counted =
    userId === undefined ? await totals.first(session, {}) : await postsOfUser.first(session, { userId });
  return counted?.posts ?? 0;
}

/** Exact statistics of all posts, from the stored sums. */
export async function readAnalytics(session: Session<Tables>): Promise<Analytics> {
  const total = await totals.first(session, {});
  const totalPosts = total?.posts ?? 0;
  const byHour = new Map((await hours.all(session, {})).map(({ key, count }) => [key, count]));
  return {
    totalPosts,
    totalCharacters: total?.characters ?? 0,
    uniqueCharacters: (await uniqueCharacters.first(session, {}))?.count ?? 0,
    topCharacters: await topCharacters.all(session, {}),
    medianPostLength: await medianLength(session, totalPosts),
    postsPerUser: new Map((await users.all(session, {})).map(({ key, count }) => [key, count])),
    postsPerHour: Array.from({ length: 24 }, (_, hour) => byHour.get(hour) ?? 0),
  };
}

/** The middle length, or the floor of the mean of the two in the middle. */
async function medianLength(session: Session<Tables>, totalPosts: number): Promise<number> {
  if (totalPosts === 0) return 0;
  const [lower, upper] = [Math.floor((totalPosts + 1) / 2), Math.floor(totalPosts / 2) + 1];
  const middle = await middleLengths.first(session, { lower, upper });
  return Math.floor(((middle?.lower ?? 0) + (middle?.upper ?? 0)) / 2);
}

/** The stored sums as one delta, to compare with a count of the posts. */
export async function readStored(session: Session<Tables>): Promise<StatisticsDelta> {
  const stored = new StatisticsDelta();
  const total = await totals.first(session, {});
  stored.posts = total?.posts ?? 0;
  stored.characters = total?.characters ?? 0;
  for (const { key, count } of await users.all(session, {})) stored.users.set(key, count);
  for (const { key, count } of await lengths.all(session, {})) stored.lengths.set(key, count);
  for (const { key, count } of await hours.all(session, {})) stored.hours.set(key, count);
  for (const { key, count } of await characters.all(session, {})) stored.addCharacter(key, count);
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

const totals = statement<Tables>()((db) =>
  db.selectFrom('post_total').select(['posts', 'characters', 'last_id as lastId']),
);

const increaseTotals = statement<Tables, { posts: number; characters: number }>()((db, p) =>
  db.updateTable('post_total').set((e) => ({
    posts: e('posts', '+', p('posts')),
    characters: e('characters', '+', p('characters')),
  })),
);

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

const postsOfUser = statement<Tables, { userId: number }>()((db, p) =>
  db.selectFrom('user_tally').select('posts').where('user_id', '=', p('userId')),
);

const users = statement<Tables>()((db) =>
  db
    .selectFrom('user_tally')
    .select(['user_id as key', 'posts as count'])
    .where('posts', '>', 0)
    .orderBy('user_id'),
);

const lengths = statement<Tables>()((db) =>
  db.selectFrom('length_tally').select(['length as key', 'posts as count']),
);

const hours = statement<Tables>()((db) =>
  db.selectFrom('hour_tally').select(['hour as key', 'posts as count']),
);

const characters = statement<Tables>()((db) =>
  db.selectFrom('character_tally').select(['code_point as key', 'occurrences as count']),
);

const uniqueCharacters = statement<Tables>()((db) =>
  db
    .selectFrom('character_tally')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('occurrences', '>', 0),
);

const topCharacters = statement<Tables>()((db) =>
  db
    .selectFrom('character_tally')
    .select(['code_point as codePoint', 'occurrences as count'])
    .where('occurrences', '>', 0)
    .orderBy('occurrences', 'desc')
    .orderBy('code_point')
    .limit(sql.lit(topCharactersMax)),
);

/** The lengths of the posts at two positions, counted from 1, in the order of length. */
const middleLengths = statement<Tables, { lower: number; upper: number }>()(
  (_db, p) => sql<{
    lower: number | null;
    upper: number | null;
  }>`WITH reach AS (SELECT length, sum(posts) OVER (ORDER BY length) AS posts FROM length_tally)
    SELECT min(CASE WHEN posts >= ${p('lower')} THEN length END) AS lower,
      min(CASE WHEN posts >= ${p('upper')} THEN length END) AS upper FROM reach`,
);

/** What statistics count of posts, in order of id. */
export const postsAfter = statement<Tables, { after: number; limit: number }>()((db, p) =>
  db
    .selectFrom('post')
    .select(['id', 'user_id as userId', 'title', 'body', 'created_at_ms as createdAtMs'])
    .where('id', '>', p('after'))
    .orderBy('id')
    .limit(p('limit')),
);

export const readRepairs = statement<Tables>()((db) => db.selectFrom('statistics_repair').select('repairs'));

/** Changes nothing if somebody else has repaired since. */
export const claimRepair = statement<Tables, { repairs: number }>()((db, p) =>
  db
    .updateTable('statistics_repair')
    .set((e) => ({ repairs: e('repairs', '+', 1) }))
    .where('repairs', '=', p('repairs')),
);

/** The newest post up to an id. */
export const postUpTo = statement<Tables, { upTo: number }>()((db, p) =>
  db.selectFrom('post').selectAll().where('id', '<=', p('upTo')).orderBy('id', 'desc').limit(1),
);
