import type { Dialect, WriteSession } from '@octavo/data';
import { sql } from 'kysely';
import type { SentimentRow, Store, Tables } from '../database.ts';
import { postColumns } from '../posts/index.ts';

/** Classification of a revision of a post. */
export interface StoredSentiment {
  readonly postId: number;
  readonly revision: number;
  readonly label: SentimentRow['label'];
  readonly probabilities: Readonly<Record<SentimentRow['label'], number>>;
  readonly model: string;
  readonly classifiedAtMs: number;
}

/** Sentiments that differ from the stored ones, and the number with another label. */
export interface SentimentChanges {
  readonly changed: readonly StoredSentiment[];
  readonly labelsChanged: number;
}

export async function findSentiment({ kysely }: Store, postId: number): Promise<StoredSentiment | undefined> {
  const { rows } = await sql<StoredColumns>`SELECT ${columns} FROM post_sentiment
    WHERE post_id = ${postId}`.execute(kysely);
  return rows[0] && toSentiment(rows[0]);
}

/** The labels of those posts that were classified. */
export function labelsOf({ kysely, dialect }: Store, ids: readonly number[]) {
  return kysely
    .selectFrom('post_sentiment')
    .select(['post_id as postId', 'label'])
    .where('post_id', 'in', idsOf(JSON.stringify(ids), dialect))
    .execute();
}

/** Stores how posts were classified, unless they have changed or are gone. The transaction must hold `writeLock`. */
export async function writeSentiments(
  session: WriteSession<Tables>,
  sentiments: readonly StoredSentiment[],
): Promise<SentimentChanges> {
  const ids = JSON.stringify(sentiments.map(({ postId }) => postId));
  const before = new Map((await sentimentsOf(session, ids)).map((row) => [row.postId, row]));
  const changed = sentiments.filter(({ postId, revision, label, model }) => {
    const row = before.get(postId);
    return row?.revision !== revision || row.label !== label || row.model !== model;
  });
  const rows = JSON.stringify(changed.map(toRow));
  const stored = new Set((await put(session, rows)).map(({ post_id }) => post_id));
  const written = changed.filter(({ postId }) => stored.has(postId));
  return {
    changed: written,
    labelsChanged: written.filter(({ postId, label }) => before.get(postId)?.label !== label).length,
  };
}

/** Selects those of some posts that exist and have a text that this model has not classified. */
export function unclassified({ kysely, dialect }: Store, { ids, model }: { ids: string; model: string }) {
  return kysely
    .selectFrom('post')
    .leftJoin('post_sentiment as known', (join) =>
      join
        .onRef('known.post_id', '=', 'post.id')
        .onRef('known.revision', '=', 'post.revision')
        .on('known.model', '=', model),
    )
    .select(postColumns)
    .where('post.id', 'in', idsOf(ids, dialect))
    .where('known.post_id', 'is', null)
    .orderBy('post.id')
    .execute();
}

const columns = sql`post_id AS "postId", revision, label, negative, neutral, positive, model,
  classified_at_ms AS "classifiedAtMs"`;

type StoredColumns = Omit<StoredSentiment, 'probabilities'> & StoredSentiment['probabilities'];

async function sentimentsOf({ kysely, dialect }: Store, ids: string): Promise<StoredColumns[]> {
  const { rows } = await sql<StoredColumns>`SELECT ${columns} FROM post_sentiment
    WHERE post_id IN ${idsOf(ids, dialect)}`.execute(kysely);
  return rows;
}

/** Writes rows, given as JSON arrays, and returns the ids of the posts that have that revision. */
async function put({ kysely, dialect }: Store, given: string) {
  const values =
    dialect === 'sqlite'
      ? sql`SELECT value ->> 0 AS post_id, value ->> 1 AS revision, value ->> 2 AS label, value ->> 3 AS negative,
          value ->> 4 AS neutral, value ->> 5 AS positive, value ->> 6 AS model, value ->> 7 AS at_ms FROM json_each(${given})`
      : sql`SELECT (value ->> 0)::bigint AS post_id, (value ->> 1)::bigint AS revision, value ->> 2 AS label,
          (value ->> 3)::double precision AS negative, (value ->> 4)::double precision AS neutral,
          (value ->> 5)::double precision AS positive, value ->> 6 AS model, (value ->> 7)::bigint AS at_ms
          FROM jsonb_array_elements(${given}::jsonb)`;
  const { rows } = await sql<{
    post_id: number;
  }>`INSERT INTO post_sentiment (post_id, revision, label, negative, neutral, positive, model, classified_at_ms)
    SELECT given.post_id, given.revision, label, negative, neutral, positive, model, at_ms
      FROM (${values}) AS given JOIN post ON post.id = given.post_id AND post.revision = given.revision WHERE true
    ON CONFLICT (post_id) DO UPDATE SET revision = excluded.revision, label = excluded.label,
      negative = excluded.negative, neutral = excluded.neutral, positive = excluded.positive,
      model = excluded.model, classified_at_ms = excluded.classified_at_ms
    RETURNING post_id`.execute(kysely);
  return rows;
}

/** The ids of a JSON list. */
function idsOf(ids: string, dialect: Dialect) {
  return dialect === 'sqlite'
    ? sql<number>`(SELECT value FROM json_each(${ids}))`
    : sql<number>`(SELECT value::bigint FROM jsonb_array_elements_text(${ids}::jsonb))`;
}

function toRow({ postId, revision, label, probabilities, model, classifiedAtMs }: StoredSentiment) {
  const { negative, neutral, positive } = probabilities;
  return [postId, revision, label, negative, neutral, positive, model, classifiedAtMs];
}

function toSentiment({ negative, neutral, positive, ...row }: StoredColumns): StoredSentiment {
  return { ...row, probabilities: { negative, neutral, positive } };
}
