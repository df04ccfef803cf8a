import { sql } from 'kysely';
import { statement } from '../db/index.ts';

/** The table of `openTableJobs`, which a migration of the service creates (README.md). */
export interface JobTables {
  job: JobRow;
}

export interface JobRow {
  id: string;
  kind: string;
  payload: Uint8Array;
  traceparent: string | null;
  created_at_ms: number;
  /** When it can be taken. While it is leased, when the lease ends. */
  due_at_ms: number;
  attempts: number;
  /** The worker that has the lease; empty if none has. */
  holder: string;
  error: string | null;
  dead_at_ms: number | null;
}

/** Adds jobs, given as JSON arrays of id, kind, payload in hexadecimal, and traceparent. Existing jobs with the same id are kept. */
export const insertJobs = statement<JobTables, { jobs: string; nowMs: number }>()((_db, p, dialect) => {
  const values =
    dialect === 'sqlite'
      ? sql`SELECT value ->> 0, value ->> 1, unhex(value ->> 2), value ->> 3, ${p('nowMs')}, ${p('nowMs')}, 0, ''
          FROM json_each(${p('jobs')}) WHERE true`
      : sql`SELECT value ->> 0, value ->> 1, decode(value ->> 2, 'hex'), value ->> 3,
          ${p('nowMs')}::bigint, ${p('nowMs')}::bigint, 0, '' FROM jsonb_array_elements(${p('jobs')}::jsonb)`;
  return sql`INSERT INTO job (id, kind, payload, traceparent, created_at_ms, due_at_ms, attempts, holder) ${values}
    ON CONFLICT (id) DO NOTHING`;
});

/** When the next job of a kind can be taken. */
export const nextDue = statement<JobTables, { kind: string }>()(
  (_db, p) => sql<{
    due: number;
  }>`SELECT due_at_ms AS due FROM job WHERE kind = ${p('kind')} AND dead_at_ms IS NULL
    ORDER BY due_at_ms LIMIT 1`,
);

/** Leases jobs that are due, longest waiting first. */
export const takeDue = statement<
  JobTables,
  { kind: string; holder: string; nowMs: number; untilMs: number; limit: number }
>()((_db, p, dialect) => {
  const unlocked = dialect === 'postgres' ? sql`FOR UPDATE SKIP LOCKED` : sql``;
  return sql<JobRow>`UPDATE job SET attempts = attempts + 1, holder = ${p('holder')}, due_at_ms = ${p('untilMs')}
    WHERE id IN (SELECT id FROM job WHERE kind = ${p('kind')} AND dead_at_ms IS NULL AND due_at_ms <= ${p('nowMs')}
      ORDER BY due_at_ms LIMIT ${p('limit')} ${unlocked})
    RETURNING *`;
});

/** Removes finished jobs, given as JSON pairs of id and holder. Jobs whose lease was lost stay. */
export const removeDone = statement<JobTables, { pairs: string }>()((_db, p, dialect) => {
  if (dialect === 'sqlite') {
    return sql`DELETE FROM job WHERE (id, holder) IN (SELECT value ->> 0, value ->> 1 FROM json_each(${p('pairs')}))`;
  }
  // With an array, PostgreSQL looks up each id instead of scanning the table.
  const each = sql`jsonb_array_elements(${p('pairs')}::jsonb)`;
  return sql`DELETE FROM job WHERE id = ANY (ARRAY(SELECT value ->> 0 FROM ${each}))
    AND (id, holder) IN (SELECT value ->> 0, value ->> 1 FROM ${each})`;
});

export const renewLease = statement<JobTables, { id: string; holder: string; untilMs: number }>()((db, p) =>
  db
    .updateTable('job')
    .set({ due_at_ms: p('untilMs') })
    .where('id', '=', p('id'))
    .where('holder', '=', p('holder')),
);

export const giveBack = statement<
  JobTables,
  { id: string; holder: string; dueMs: number; error: string; attempts: number }
>()((db, p) =>
  db
    .updateTable('job')
    .set({ due_at_ms: p('dueMs'), holder: '', error: p('error'), attempts: p('attempts') })
    .where('id', '=', p('id'))
    .where('holder', '=', p('holder')),
);

export const buryJob = statement<JobTables, { id: string; holder: string; nowMs: number; error: string }>()(
  (db, p) =>
    db
      .updateTable('job')
      .set({ dead_at_ms: p('nowMs'), holder: '', error: p('error') })
      .where('id', '=', p('id'))
      .where('holder', '=', p('holder')),
);

export const deadJobs = statement<JobTables, { limit: number }>()((db, p) =>
  db
    .selectFrom('job')
    .selectAll()
    .where('dead_at_ms', 'is not', null)
    .orderBy('dead_at_ms', 'desc')
    .orderBy('id')
    .limit(p('limit')),
);

export const reviveJob = statement<JobTables, { id: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('job')
    .set({ dead_at_ms: null, attempts: 0, due_at_ms: p('nowMs'), error: null })
    .where('id', '=', p('id'))
    .where('dead_at_ms', 'is not', null),
);
