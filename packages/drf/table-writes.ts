import type { WriteSession } from '@octavo/data';
import type { Insertable, Kysely, Selectable, Updateable } from 'kysely';

/** The changes of a resource whose fields are the columns of a table. */
export interface TableWrites<DB, T extends keyof DB> {
  insert(session: WriteSession<DB>, row: Insertable<DB[T]>): Promise<Selectable<DB[T]>>;
  /** Undefined if there is no such row. */
  update(
    session: WriteSession<DB>,
    id: number,
    change: Updateable<DB[T]>,
  ): Promise<Selectable<DB[T]> | undefined>;
  /** Returns the number of deleted rows. */
  delete(session: WriteSession<DB>, ids: readonly number[]): Promise<number>;
}

/** Stands for the tables of any service, of which only the `id` is known. */
interface AnyTables {
  row: { id: number };
}

/** Inserts, updates and deletes the rows of a table by their `id`. Columns without a value get the default of the table. */
export function tableWrites<DB, const T extends keyof DB & string>(name: T): TableWrites<DB, T> {
  const table = name as unknown as 'row';
  const rowsOf = ({ kysely }: WriteSession<DB>) => kysely as unknown as Kysely<AnyTables>;
  const writes = {
    insert: (session: WriteSession<DB>, row: AnyTables['row']) =>
      rowsOf(session).insertInto(table).values(row).returningAll().executeTakeFirstOrThrow(),
    update(session: WriteSession<DB>, id: number, change: Partial<AnyTables['row']>) {
      const isEmpty = Object.keys(change).length === 0;
      if (isEmpty)
        return rowsOf(session).selectFrom(table).selectAll().where('id', '=', id).executeTakeFirst();
      return rowsOf(session)
        .updateTable(table)
        .set(change)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
    },
    async delete(session: WriteSession<DB>, ids: readonly number[]) {
      const { numDeletedRows } = await rowsOf(session)
        .deleteFrom(table)
        .where('id', 'in', ids)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
  return writes as unknown as TableWrites<DB, T>;
}
