import { type Generated, sql } from 'kysely';
import { type Session, statement } from '../db/index.ts';

/** The tables of events, which a migration of the service creates (README.md). */
export interface EventTables {
  event_outbox: Omit<OutboxRow, 'seq'> & { seq: Generated<number> };
  event_reader: ReaderRow;
}

export interface OutboxRow {
  /** Higher than that of every row that had been committed when this one was appended. Rows that were rolled back leave gaps. */
  seq: number;
  type: string;
  data: Uint8Array;
  time_ms: number;
  traceparent: string | null;
}

export interface ReaderRow {
  name: string;
  /** The last row that was handled. */
  position: number;
  /** The process that has the lease on this name, and until when. */
  lease_holder: string;
  until_ms: number;
}

export const insertRow = statement<EventTables, Omit<OutboxRow, 'seq'>>()((db, p) =>
  db.insertInto('event_outbox').values({
    type: p('type'),
    data: p('data'),
    time_ms: p('time_ms'),
    traceparent: p('traceparent'),
  }),
);

export function rowsAfter({ kysely }: Session<EventTables>, position: number, limit: number) {
  return kysely
    .selectFrom('event_outbox')
    .selectAll()
    .where('seq', '>', position)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** The numbers of the newest rows up to one. */
export async function seqsUpTo({ kysely }: Session<EventTables>, last: number, limit: number) {
  const rows = await kysely
    .selectFrom('event_outbox')
    .select('seq')
    .where('seq', '<=', last)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ seq }) => seq);
}

/** The position of a reader, and whether there are rows after it. */
export async function findPosition({ kysely }: Session<EventTables>, name: string) {
  const { rows } = await sql<{
    position: number;
    waiting: number;
  }>`SELECT position, (SELECT count(*) FROM (SELECT 1 FROM event_outbox WHERE seq > position LIMIT 1) AS next) AS waiting
    FROM event_reader WHERE name = ${name}`.execute(kysely);
  return rows[0];
}

export function addReader({ kysely }: Session<EventTables>, name: string) {
  return kysely
    .insertInto('event_reader')
    .values({ name, position: 0, lease_holder: '', until_ms: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Takes the lease on a name if it is free or already held by this process. */
export function takeReader(
  { kysely }: Session<EventTables>,
  given: { name: string; holder: string; nowMs: number; untilMs: number },
) {
  return kysely
    .updateTable('event_reader')
    .set({ lease_holder: given.holder, until_ms: given.untilMs })
    .where('name', '=', given.name)
    .where((e) => e.or([e('lease_holder', '=', given.holder), e('until_ms', '<=', given.nowMs)]))
    .returning('position')
    .executeTakeFirst();
}

/** Moves the position and renews the lease, unless another process has the lease. */
export function moveReader(
  { kysely }: Session<EventTables>,
  given: { name: string; holder: string; position: number; untilMs: number },
) {
  return kysely
    .updateTable('event_reader')
    .set({ position: given.position, until_ms: given.untilMs })
    .where('name', '=', given.name)
    .where('lease_holder', '=', given.holder)
    .executeTakeFirst();
}

/** Sends a reader back to the oldest row. The holder of its lease loses it, so a position from before is not stored afterwards. */
export function restartReader({ kysely }: Session<EventTables>, name: string) {
  return kysely
    .updateTable('event_reader')
    .set({ position: 0, lease_holder: '', until_ms: 0 })
    .where('name', '=', name)
    .execute();
}

export function renewReader(
  { kysely }: Session<EventTables>,
  { name, holder, untilMs }: { name: string; holder: string; untilMs: number },
) {
  return kysely
    .updateTable('event_reader')
    .set({ until_ms: untilMs })
    .where('name', '=', name)
    .where('lease_holder', '=', holder)
    .executeTakeFirst();
}

export function leaveReader(
  { kysely }: Session<EventTables>,
  { name, holder }: { name: string; holder: string },
) {
  return kysely
    .updateTable('event_reader')
    .set({ lease_holder: '', until_ms: 0 })
    .where('name', '=', name)
    .where('lease_holder', '=', holder)
    .execute();
}

/** Deletes rows up to a position that are older than a time. */
export function dropRows({ kysely }: Session<EventTables>, position: number, beforeMs: number) {
  return kysely
    .deleteFrom('event_outbox')
    .where('seq', '<=', position)
    .where('time_ms', '<', beforeMs)
    .execute();
}

/** The oldest row. */
export function firstRow({ kysely }: Session<EventTables>) {
  return kysely
    .selectFrom('event_outbox')
    .select(['seq', 'time_ms'])
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
}

/** The newest row. */
export function lastRow({ kysely }: Session<EventTables>) {
  return kysely.selectFrom('event_outbox').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
}

/** The rows that a reader has not handled. */
export async function countRows({ kysely }: Session<EventTables>, name: string) {
  const { rows } = await sql<{
    count: number;
    oldest_ms: number | null;
  }>`SELECT count(*) AS count, min(time_ms) AS oldest_ms FROM event_outbox
    WHERE seq > coalesce((SELECT position FROM event_reader WHERE name = ${name}), 0)`.execute(kysely);
  return rows[0];
}
