import { AppError } from '@octavo/core';
import type { DatabaseOptions } from '../database.ts';
import { notEmpty } from '../errors.ts';
import type { Batch, Digest, Side } from './side.ts';
import { type MovedTable, movedTables } from './tables.ts';

/** A move between the SQLite file of a database and the schema at `url`. */
export interface MoveOptions extends DatabaseOptions {
  readonly url: string;
  /** True to replace what the target holds. */
  readonly overwrite: boolean;
  /** True to put U+FFFD in the place of U+0000, which PostgreSQL refuses in texts. */
  readonly replacesNul?: boolean;
  readonly onProgress?: (progress: MoveProgress) => void;
}

export interface MoveProgress {
  readonly step: 'copying' | 'comparing';
  readonly table: string;
  /** Rows of the table that are done. */
  readonly rows: number;
}

export interface MoveResult {
  /** The tables of both sides, whose digests are equal. */
  readonly tables: readonly (Digest & { readonly name: string })[];
  /** False if the target held the same rows already. */
  readonly isNew: boolean;
}

/** Both sides of a move, and the tables that it copies. */
export interface Plan {
  readonly from: Side;
  readonly to: Side;
  readonly tables: readonly MovedTable[];
  readonly options: MoveOptions;
}

/** Plans a move. Throws if one of the databases has a table that a move does not know. */
export async function planMove(
  options: MoveOptions,
  sides: { sqlite: Side; postgres: Side; to: 'sqlite' | 'postgres' },
): Promise<Plan> {
  const { sqlite, postgres, to } = sides;
  const tables = movedTables(await sqlite.shapes(), await postgres.shapes(), options.derived ?? {});
  const [from, target] = to === 'postgres' ? [sqlite, postgres] : [postgres, sqlite];
  return { from, to: target, tables, options };
}

/** Copies all tables, fills those that are derived, and compares both sides. Throws `internal` if they differ. */
export async function copyAll(plan: Plan): Promise<MoveResult> {
  const { from, to, tables, options } = plan;
  const restoreRules = await to.clear();
  for (const table of tables) await to.load(table, counted(plan, table));
  for (const derived of Object.values(options.derived ?? {})) await derived?.fill(to.session);
  for (const table of tables) await to.setLastNumber(table, await from.lastNumber(table));
  // PostgreSQL makes its indexes while this process reads SQLite.
  const [wanted] = await Promise.all([digestsOf(plan, from), restoreRules()]);
  const found = await digestsOf(plan, to);
  const differing = tables.filter((_, index) => wanted[index]?.sha256 !== found[index]?.sha256);
  if (differing.length > 0) {
    const names = differing.map(({ name }) => name).join(', ');
    throw new AppError(
      'internal',
      `after the move of ${options.name}, rows of ${names} differ: nothing was changed`,
    );
  }
  return { tables: found, isNew: true };
}

/**
 * Undefined if the side holds no more rows than migrations put in. If it holds the same rows as the source, that is the result. Throws
 * `conflict` if it holds others.
 */
export async function findMoved(
  plan: Plan,
  target: { readonly side: Side; readonly fresh: RowCounts; readonly place: string },
): Promise<MoveResult | undefined> {
  const counts = await countRows(target.side, plan.tables);
  if (plan.tables.every(({ name }) => (counts.get(name) ?? 0) <= (target.fresh.get(name) ?? 0)))
    return undefined;
  const sourceCounts = await countRows(plan.from, plan.tables);
  if (plan.tables.every(({ name }) => counts.get(name) === sourceCounts.get(name))) {
    const found = await digestsOf(plan, target.side);
    const wanted = await digestsOf(plan, plan.from);
    if (found.every(({ sha256 }, index) => sha256 === wanted[index]?.sha256))
      return { tables: found, isNew: false };
  }
  throw notEmpty(target.place);
}

/** Numbers of rows by table. */
export type RowCounts = ReadonlyMap<string, number>;

export async function countRows(side: Side, tables: readonly MovedTable[]): Promise<RowCounts> {
  const counts = new Map<string, number>();
  for (const { name } of tables) counts.set(name, await side.count(name));
  return counts;
}

async function digestsOf({ tables, options }: Plan, side: Side): Promise<MoveResult['tables']> {
  const digests: (Digest & { name: string })[] = [];
  for (const table of tables) {
    let rows = 0;
    const digest = await side.digest(table, (more) => {
      rows += more;
      options.onProgress?.({ step: 'comparing', table: table.name, rows });
    });
    digests.push({ name: table.name, ...digest });
  }
  return digests;
}

async function* counted({ from, options }: Plan, table: MovedTable): AsyncGenerator<Batch> {
  let rows = 0;
  for await (const batch of from.rows(table)) {
    yield batch;
    rows += batch.length;
    options.onProgress?.({ step: 'copying', table: table.name, rows });
  }
}
