import type { AdminTables, RowHistory } from '@octavo/admin';
import type { Clock } from '@octavo/core';
import type { WriteSession } from '@octavo/data';
import type { FastifyRequest } from 'fastify';
import type { Insertable, Kysely, Selectable, Updateable } from 'kysely';
import { tokenUser } from './authtoken/index.ts';
import { tableWrites } from './table-writes.ts';

/** The changes of a resource by the caller of a request. */
export interface RecordedWrites<DB, T extends keyof DB> {
  insert(
    session: WriteSession<DB>,
    row: Insertable<DB[T]>,
    request: FastifyRequest,
  ): Promise<Selectable<DB[T]>>;
  /** Undefined if there is no such row. `check` sees the row as it is, locked, and refuses the change by throwing. */
  update(
    session: WriteSession<DB>,
    id: number,
    change: {
      readonly row: Updateable<DB[T]>;
      readonly request: FastifyRequest;
      readonly check?: (before: Selectable<DB[T]>) => void;
    },
  ): Promise<Selectable<DB[T]> | undefined>;
  /** Deletes rows, and returns the number of those that existed. */
  delete(session: WriteSession<DB>, ids: readonly number[], request: FastifyRequest): Promise<number>;
}

interface Recording {
  readonly history: RowHistory;
  /** The model whose history it is, `library/book`. */
  readonly path: string;
  readonly clock: Clock;
}

/** Any row of a table whose `id` is known. */
interface AnyTables {
  row: { id: number };
}

/** Inserts, updates and deletes rows as {@link tableWrites} does, and writes each change with its author to the history of the admin. */
export function recordedWrites<DB extends AdminTables, const T extends keyof DB & string>(
  table: T,
  { history, path, clock }: Recording,
): RecordedWrites<DB, T> {
  const writes = tableWrites<AnyTables, 'row'>(table as 'row');
  const record = (session: Session, rows: Parameters<RowHistory['record']>[2], request: FastifyRequest) =>
    history.record(session as unknown as WriteSession<AdminTables>, path, rows, {
      user: tokenUser(request),
      nowMs: clock.now(),
      via: 'api',
    });
  const recorded = {
    async insert(session: Session, row: AnyTables['row'], request: FastifyRequest) {
      const after = await writes.insert(session, row);
      await record(session, [{ after: { ...after } }], request);
      return after;
    },
    async update(session: Session, id: number, { row, request, check }: UpdateOf) {
      const [before] = await lockedRows(session, table, [id]);
      if (before) check?.(before);
      const after = before && (await writes.update(session, id, row));
      if (after) await record(session, [{ before: { ...before }, after: { ...after } }], request);
      return after;
    },
    async delete(session: Session, ids: readonly number[], request: FastifyRequest) {
      const rows = await lockedRows(session, table, ids);
      await record(
        session,
        rows.map((before) => ({ before: { ...before } })),
        request,
      );
      return writes.delete(session, ids);
    },
  };
  return recorded as unknown as RecordedWrites<DB, T>;
}

type Session = WriteSession<AnyTables>;
interface UpdateOf {
  readonly row: Partial<AnyTables['row']>;
  readonly request: FastifyRequest;
  readonly check?: (before: AnyTables['row']) => void;
}

/** Locks rows in order of id, so that of two requests for the same rows neither waits for the other. */
function lockedRows({ kysely, dialect }: Session, table: string, ids: readonly number[]) {
  const rows = (kysely as Kysely<AnyTables>)
    .selectFrom(table as 'row')
    .selectAll()
    .where('id', 'in', ids);
  const inOrder = rows.orderBy('id');
  return (dialect === 'postgres' ? inOrder.forUpdate() : inOrder).execute();
}
