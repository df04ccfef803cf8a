import type { WriteSession } from '@octavo/data';
import type { Values } from '../field.ts';
import type { Model, TableModel } from '../model.ts';
import { columnOf, idOf, titleOf } from '../registry.ts';
import { describeChanges } from './changes.ts';
import { type AdminTables, type Author, type Change, isSame, recordChanges } from './history.ts';

/** A row as the database gives it. */
type Row = Readonly<Record<string, unknown>>;

/** Change of a row: added without `before`, deleted without `after`. */
export interface RowChange {
  readonly before?: Row | undefined;
  readonly after?: Row | undefined;
}

/** Writes changes of rows that are made elsewhere than in the admin, such as by an API, to the history that the admin shows. */
export class RowHistory {
  readonly #models: ReadonlyMap<string, TableModel>;

  constructor(models: readonly Model[]) {
    const tables = models.filter((model): model is TableModel => model.kind === 'table');
    this.#models = new Map(tables.map((model) => [model.path, model]));
  }

  /** Writes what happened to rows of the model at a path, in the transaction of the changes. One that changes nothing is left out. */
  async record(
    session: WriteSession<AdminTables>,
    path: string,
    rows: readonly RowChange[],
    author: Author,
  ): Promise<void> {
    const model = this.#models.get(path);
    if (!model) throw new Error(`there is no model ${path}`);
    const changes: Change[] = [];
    for (const row of rows) changes.push(...(await this.#changesOf(session, model, row)));
    await recordChanges(session, changes, author);
  }

  async #changesOf(session: WriteSession<AdminTables>, model: TableModel, row: RowChange): Promise<Change[]> {
    const [before, after] = [
      row.before && valuesOf(model, row.before),
      row.after && valuesOf(model, row.after),
    ];
    const values = after ?? before;
    if (!values) return [];
    const entry = { model: model.path, id: idOf(model, values), title: titleOf(model, values) };
    if (!after) return [{ ...entry, action: 'delete', fields: [] }];
    const names = Object.entries(model.fields)
      .filter(([name, { readOnly }]) => readOnly !== true && !(before && isSame(before[name], after[name])))
      .map(([name]) => name);
    if (before && names.length === 0) return [];
    const tableAt = (path: string) => this.#models.get(path);
    const fields = await describeChanges({ session, tableAt }, model, names, { before, after });
    return [{ ...entry, action: before ? 'change' : 'add', fields }];
  }
}

function valuesOf(model: TableModel, row: Row): Values {
  const names = [model.key, ...Object.keys(model.fields)];
  return Object.fromEntries(names.map((name) => [name, row[columnOf(model, name)] ?? null])) as Values;
}
