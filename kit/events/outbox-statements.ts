import { sql } from 'kysely';
import { statement } from '../db/index.ts';

/** The tables of events, which a migration of the service creates (README.md). */
export interface EventTables {
  event_outbox: OutboxRow;
  event_reader: ReaderRow;
}

export interface OutboxRow {
  /** Increases in the order of commits. */
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
  holder: string;
  until_ms: number;
}

export const insertRow = statement<
  EventTables,
  { type: string; data: Uint8Array; timeMs: number; traceparent: string | null }
>()(
  (_db, p) => sql`INSERT INTO event_outbox (type, data, time_ms, traceparent)
    VALUES (${p('type')}, ${p('data')}, ${p('timeMs')}, ${p('traceparent')})`,
);

export const rowsAfter = statement<EventTables, { position: number; limit: number }>()((db, p) =>
  db.selectFrom('event_outbox').selectAll().where('seq', '>', p('position')).orderBy('seq').limit(p('limit')),
);

/** The position of a reader, and whether there are rows after it. */
export const findPosition = statement<EventTables, { name: string }>()(
  (_db, p) => sql<{
    position: number;
    waiting: number;
  }>`SELECT position, (SELECT count(*) FROM (SELECT 1 FROM event_outbox WHERE seq > position LIMIT 1) AS next) AS waiting
    FROM event_reader WHERE name = ${p('name')}`,
);

export const addReader = statement<EventTables, { name: string }>()((db, p) =>
  db
    .insertInto('event_reader')
    .values({ name: p('name'), position: 0, holder: '', until_ms: 0 })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Takes the lease on a name if it is free or already held by this process. */
export const takeReader = statement<
  EventTables,
  { name: string; holder: string; nowMs: number; untilMs: number }
>()((db, p) =>
  db
    .updateTable('event_reader')
    .set({ holder: p('holder'), until_ms: p('untilMs') })
    .where('name', '=', p('name'))
    .where((e) => e.or([e('holder', '=', p('holder')), e('until_ms', '<=', p('nowMs'))]))
    .returning('position'),
);

/** Moves the position and renews the lease, unless another process has the lease. */
export const moveReader = statement<
  EventTables,
  { name: string; holder: string; position: number; untilMs: number }
>()((db, p) =>
  db
    .updateTable('event_reader')
    .set({ position: p('position'), until_ms: p('untilMs') })
    .where('name', '=', p('name'))
    .where('holder', '=', p('holder')),
);

/** Sends a reader back to the oldest row. Whoever has its lease loses it, so a position from before is not stored afterwards. */
export const restartReader = statement<EventTables, { name: string }>()((db, p) =>
  db.updateTable('event_reader').set({ position: 0, holder: '', until_ms: 0 }).where('name', '=', p('name')),
);

export const renewReader = statement<EventTables, { name: string; holder: string; untilMs: number }>()(
  (db, p) =>
    db
      .updateTable('event_reader')
      .set({ until_ms: p('untilMs') })
      .where('name', '=', p('name'))
      .where('holder', '=', p('holder')),
);

export const leaveReader = statement<EventTables, { name: string; holder: string }>()((db, p) =>
  db
    .updateTable('event_reader')
    .set({ holder: '', until_ms: 0 })
    .where('name', '=', p('name'))
    .where('holder', '=', p('holder')),
);

/** Deletes rows up to a position that are older than a time. */
export const dropRows = statement<EventTables, { position: number; beforeMs: number }>()((db, p) =>
  db.deleteFrom('event_outbox').where('seq', '<=', p('position')).where('time_ms', '<', p('beforeMs')),
);

/** The oldest row. */
export const firstRow = statement<EventTables>()((db) =>
  db.selectFrom('event_outbox').select(['seq', 'time_ms']).orderBy('seq').limit(sql.lit(1)),
);

/** The newest row. */
export const lastRow = statement<EventTables>()((db) =>
  db.selectFrom('event_outbox').select('seq').orderBy('seq', 'desc').limit(sql.lit(1)),
);

/** The rows that a reader has not handled. */
export const countRows = statement<EventTables, { name: string }>()(
  (_db, p) => sql<{
    count: number;
    oldest_ms: number | null;
  }>`SELECT count(*) AS count, min(time_ms) AS oldest_ms FROM event_outbox
    WHERE seq > coalesce((SELECT position FROM event_reader WHERE name = ${p('name')}), 0)`,
);
