import { sql } from 'kysely';
import type { Session } from '../db/index.ts';

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
  /** Time from which it can be taken. While it is leased, the end of the lease. */
  due_at_ms: number;
  attempts: number;
  /** The worker that has the lease; empty if none has. */
  holder: string;
  error: string | null;
  dead_at_ms: number | null;
}

/** Adds jobs, given as JSON arrays of id, kind, payload in hexadecimal, and traceparent. Existing jobs with the same id are kept. */
export function insertJobs({ kysely, dialect }: Session<JobTables>, jobs: string, nowMs: number) {
  const values =
    dialect === 'sqlite'
      ? sql`SELECT value ->> 0, value ->> 1, unhex(value ->> 2), value ->> 3, ${nowMs}, ${nowMs}, 0, ''
          FROM json_each(${jobs}) WHERE true`
      : sql`SELECT value ->> 0, value ->> 1, decode(value ->> 2, 'hex'), value ->> 3,
          ${nowMs}::bigint, ${nowMs}::bigint, 0, '' FROM jsonb_array_elements(${jobs}::jsonb)`;
  return sql`INSERT INTO job (id, kind, payload, traceparent, created_at_ms, due_at_ms, attempts, holder) ${values}
    ON CONFLICT (id) DO NOTHING`.execute(kysely);
}

/** Time at which the next job of a kind can be taken. */
export async function nextDue({ kysely }: Session<JobTables>, kind: string) {
  const { rows } = await sql<{
    due: number;
  }>`SELECT due_at_ms AS due FROM job WHERE kind = ${kind} AND dead_at_ms IS NULL
    ORDER BY due_at_ms LIMIT 1`.execute(kysely);
  return rows[0];
}

/** Leases jobs that are due, longest waiting first. */
export async function takeDue(
  { kysely, dialect }: Session<JobTables>,
  given: { kind: string; holder: string; nowMs: number; untilMs: number; limit: number },
) {
  const unlocked = dialect === 'postgres' ? sql`FOR UPDATE SKIP LOCKED` : sql``;
  const { rows } =
    await sql<JobRow>`UPDATE job SET attempts = attempts + 1, holder = ${given.holder}, due_at_ms = ${given.untilMs}
    WHERE id IN (SELECT id FROM job WHERE kind = ${given.kind} AND dead_at_ms IS NULL AND due_at_ms <= ${given.nowMs}
      ORDER BY due_at_ms LIMIT ${given.limit} ${unlocked})
    RETURNING *`.execute(kysely);
  return rows;
}

/** Removes finished jobs, given as JSON pairs of id and holder. Jobs whose lease was lost stay. */
export function removeDone({ kysely, dialect }: Session<JobTables>, pairs: string) {
  if (dialect === 'sqlite') {
    return sql`DELETE FROM job WHERE (id, holder) IN
      (SELECT value ->> 0, value ->> 1 FROM json_each(${pairs}))`.execute(kysely);
  }
  // With an array, PostgreSQL looks up each id instead of scanning the table.
  const each = sql`jsonb_array_elements(${pairs}::jsonb)`;
  return sql`DELETE FROM job WHERE id = ANY (ARRAY(SELECT value ->> 0 FROM ${each}))
    AND (id, holder) IN (SELECT value ->> 0, value ->> 1 FROM ${each})`.execute(kysely);
}

export function renewLease(
  { kysely }: Session<JobTables>,
  { id, holder, untilMs }: { id: string; holder: string; untilMs: number },
) {
  return kysely
    .updateTable('job')
    .set({ due_at_ms: untilMs })
    .where('id', '=', id)
    .where('holder', '=', holder)
    .executeTakeFirst();
}

export function giveBack(
  { kysely }: Session<JobTables>,
  given: { id: string; holder: string; dueMs: number; error: string; attempts: number },
) {
  return kysely
    .updateTable('job')
    .set({ due_at_ms: given.dueMs, holder: '', error: given.error, attempts: given.attempts })
    .where('id', '=', given.id)
    .where('holder', '=', given.holder)
    .execute();
}

export function buryJob(
  { kysely }: Session<JobTables>,
  { id, holder, nowMs, error }: { id: string; holder: string; nowMs: number; error: string },
) {
  return kysely
    .updateTable('job')
    .set({ dead_at_ms: nowMs, holder: '', error })
    .where('id', '=', id)
    .where('holder', '=', holder)
    .execute();
}

export function deadJobs({ kysely }: Session<JobTables>, limit: number) {
  return kysely
    .selectFrom('job')
    .selectAll()
    .where('dead_at_ms', 'is not', null)
    .orderBy('dead_at_ms', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export function reviveJob({ kysely }: Session<JobTables>, id: string, nowMs: number) {
  return kysely
    .updateTable('job')
    .set({ dead_at_ms: null, attempts: 0, due_at_ms: nowMs, error: null })
    .where('id', '=', id)
    .where('dead_at_ms', 'is not', null)
    .executeTakeFirst();
}
