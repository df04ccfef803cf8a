import { AppError } from '@octavo/core';
import { lettersOf } from '@octavo/core/text';
import type { RowProblem } from '@octavo/web/import-pages';
import { createRowParser, type FileRow, formatOf, ImportProblem, tableOf } from '@octavo/web/imports';
import { describeChanges } from '../changes/changes.ts';
import { type FieldChange, isSame } from '../changes/history.ts';
import type { Value, Values } from '../field.ts';
import type { TableModel } from '../model.ts';
import { fileColumns, idOf, type Registry, titleOf } from '../registry.ts';
import { dynamic, keyCondition, selectFields, toValues } from '../table/query.ts';
import { saveInside } from '../table/save.ts';
import type { Actor } from '../user.ts';

/** Most rows in a file. */
export const importRowsMax = 10_000;
const errorsMax = 100;
const pieceCharacters = 64 * 1024;
/** Additions and changes shown; the rest are only counted. */
export const plannedShown = 50;

/** A file of objects: names of its columns, and its rows, from CSV or JSON. */
export interface ImportFile {
  readonly columns: ReadonlySet<string>;
  readonly rows: readonly FileRow[];
  /** Lines above the names of columns, which are left out. */
  readonly above: number;
}

/** Preview of an import. */
export interface ImportPlan {
  readonly added: number;
  /** The first of those that would be added. */
  readonly additions: readonly PlannedChange[];
  readonly unchanged: number;
  readonly changes: readonly PlannedChange[];
  readonly errors: readonly RowProblem[];
}

/** An object that would be added, whose `id` is the number of its row, or changed. */
export interface PlannedChange {
  readonly id: string;
  readonly title: string;
  readonly fields: readonly FieldChange[];
}

/** Reads a file by its name: JSON, else CSV. Throws `invalid_input` in words for its owner. */
export function readImport(model: TableModel, name: string, content: string): ImportFile {
  const columns = new Set<string>();
  const fields = fieldsByName(model);
  const named = columnNamer(model, fields);
  const isHeader = (cells: readonly string[]) => cells.every((cell) => fields.has(simplified(cell)));
  const format = formatOf(name);
  const parser = createRowParser(format, {
    rowsMax: importRowsMax,
    isHeader,
    fieldsOf: (header) => {
      const names = header.map(named);
      const repeated = header.find((_, index) => names.indexOf(names[index] as string) < index);
      if (repeated !== undefined) throw problem(`The file has the column “${repeated}” twice.`);
      for (const name of names) columns.add(name);
      return names.map((name, index) => [name, index] as const);
    },
  });
  const rows: FileRow[] = [];
  const take = (read: readonly FileRow[]) => {
    for (const row of read) {
      const values: Record<string, unknown> = {};
      for (const [column, value] of Object.entries(row.values)) values[named(column)] = value;
      for (const name of Object.keys(values)) columns.add(name);
      rows.push({ ...row, values });
    }
  };
  try {
    // In pieces, so that a file with too many rows is refused before they are objects.
    for (let at = 0; at < content.length; at += pieceCharacters)
      take(parser.push(content.slice(at, at + pieceCharacters)));
    take(parser.end());
  } catch (error) {
    throw error instanceof ImportProblem ? problem(error.message) : error;
  }
  if (rows.length === 0) throw problem('The file has no rows.');
  return { columns, rows, above: format === 'csv' ? tableOf(content, isHeader).above : 0 };
}

/** Finds the field of a column that is called as in an export or as in the form, in any case. Throws for one that is of no field. */
function columnNamer(model: TableModel, fields: ReadonlyMap<string, string>): (column: string) => string {
  const known = new Map<string, string>();
  return (column) => {
    const name = known.get(column) ?? fields.get(simplified(column));
    if (name !== undefined) {
      known.set(column, name);
      return name;
    }
    const labels = fileColumns(model).map((each) => columnLabel(model, each));
    throw problem(`The file has a column “${column}”. The columns are ${labels.join(', ')}.`);
  };
}

function fieldsByName(model: TableModel): ReadonlyMap<string, string> {
  const names = fileColumns(model);
  const byLabel = names.map((name) => [simplified(columnLabel(model, name)), name] as const);
  return new Map([...byLabel, ...names.map((name) => [simplified(name), name] as const)]);
}

/** The name of a column in the words of the form. */
export function columnLabel(model: TableModel, name: string): string {
  return model.fields[name]?.label ?? (name === model.key ? 'ID' : name);
}

function simplified(name: string): string {
  return lettersOf(name).replace(/[^\p{L}\p{N}]/gu, '');
}

/** The text of a cell; that of a list or an object in JSON is JSON. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function problem(message: string): AppError {
  return new AppError('invalid_input', message);
}

/** Plans an import by running it and rolling it back. */
export async function planImport(
  registry: Registry,
  model: TableModel,
  file: ImportFile,
  actor: Actor,
): Promise<ImportPlan> {
  const plan = new Plan();
  try {
    await registry.database.write(
      async (session) => {
        plan.clear();
        await runImport({ registry, model, actor, session }, file, plan);
        throw new TakenBack();
      },
      { alone: true },
    );
  } catch (error) {
    if (!(error instanceof TakenBack)) plan.fail(error, model);
  }
  return plan;
}

/** Imports a file: all of it, or nothing. Throws `validation_failed` if it would no longer work. */
export async function importAll(
  registry: Registry,
  model: TableModel,
  file: ImportFile,
  actor: Actor,
): Promise<ImportPlan> {
  const plan = new Plan();
  await registry.database.write(
    async (session) => {
      plan.clear();
      await runImport({ registry, model, actor, session }, file, plan);
      const [first] = plan.errors;
      if (first) throw new AppError('validation_failed', `Row ${first.row}: ${first.message}`);
    },
    { alone: true },
  );
  return plan;
}

class TakenBack extends Error {}

class Plan implements ImportPlan {
  added = 0;
  additions: PlannedChange[] = [];
  unchanged = 0;
  changes: PlannedChange[] = [];
  errors: RowProblem[] = [];
  row = 0;

  clear(): void {
    this.added = 0;
    this.additions = [];
    this.unchanged = 0;
    this.changes = [];
    this.errors = [];
  }

  /** A statement that failed has ended the transaction, so later rows were not tried. */
  fail(error: unknown, model: TableModel): void {
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error;
    this.errors.push({ row: this.row, message: messageOf(error, model) });
  }
}

type Importing = Omit<Parameters<typeof saveInside>[0], 'nowMs'> & { readonly model: TableModel };

async function runImport(importing: Importing, { columns, rows }: ImportFile, plan: Plan): Promise<void> {
  const { registry, model, session, actor } = importing;
  const ids = rows.map(({ values }) => textOf(values[model.key]).trim());
  const known = await loadKnown(importing, ids);
  const seen = new Set<string>();
  const described = { session, tableAt: (path: string) => registry.tableAt(path) };
  const writing = { registry, session, actor, nowMs: registry.clock.now() };
  for (const [index, row] of rows.entries()) {
    plan.row = index + 1;
    const id = ids[index] as string;
    const before = known.get(id);
    const values = readRow({ model, columns, nowMs: writing.nowMs }, { row, before });
    const repeated = id !== '' && seen.has(id);
    seen.add(id);
    const wrong =
      typeof values === 'string'
        ? values
        : repeated
          ? `${model.key} ${id} is in the file twice`
          : id !== '' && !before
            ? `there is no ${model.label} ${id}; leave ${model.key} empty to add one`
            : undefined;
    if (wrong !== undefined) {
      plan.errors.push({ row: index + 1, message: wrong });
      if (plan.errors.length >= errorsMax) return;
      continue;
    }
    const changed = Object.entries(values as Values)
      .filter(([name, value]) => !before || !isSame(before[name], value))
      .map(([name]) => name);
    if (before && changed.length === 0) {
      plan.unchanged++;
      continue;
    }
    if (plan.errors.length === 0)
      await saveInside(writing, model, { id: before && id, values: values as Values, children: [] });
    const states = { before, after: { ...before, ...(values as Values) } };
    const isShown = (before ? plan.changes : plan.additions).length < plannedShown;
    const fields = isShown ? await describeChanges(described, model, changed, states) : [];
    const planned = { id: before ? id : String(index + 1), title: titleOf(model, states.after), fields };
    if (before) plan.changes.push({ ...planned, title: titleOf(model, before) });
    else if (isShown) plan.additions.push(planned);
    if (!before) plan.added++;
  }
}

async function loadKnown(
  { model, session }: Importing,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Values>> {
  const known = new Map<string, Values>();
  const given = [...new Set(ids.filter((id) => id !== ''))];
  for (let index = 0; index < given.length; index += 500) {
    const slice = given.slice(index, index + 500);
    const rows = await selectFields(dynamic(session), model).where(keyCondition(model, slice)).execute();
    for (const row of rows.map(toValues)) known.set(idOf(model, row), row);
  }
  return known;
}

/** The values of a row, or its problem. Fields that are not editable stay unchanged. New objects get the defaults of the form. */
function readRow(
  { model, columns, nowMs }: { model: TableModel; columns: ImportFile['columns']; nowMs: number },
  { row, before }: { row: FileRow; before: Values | undefined },
): Values | string {
  if (row.problem !== undefined) return row.problem;
  const values: Record<string, Value> = {};
  const problems: string[] = [];
  for (const [name, field] of Object.entries(model.fields)) {
    const isMissingColumn = !columns.has(name);
    if (field.readOnly === true || field.isSecret || (isMissingColumn && before)) continue;
    const typed = textOf(row.values[name]);
    if (before && typed === field.format(before[name] ?? null)) continue;
    const initial = before ? null : field.initial(nowMs);
    const hasDefault = isMissingColumn && initial !== null && initial !== '';
    const isEmpty = !before && (isMissingColumn || typed === '') && !field.isRequired;
    const parsed = hasDefault || isEmpty ? { value: initial } : field.parse(typed);
    if ('problem' in parsed) problems.push(`${field.label} ${parsed.problem}`);
    else values[name] = parsed.value;
  }
  return problems.length > 0 ? problems.join('; ') : values;
}

function messageOf(error: AppError, model: TableModel): string {
  const fields = Object.entries(error.fields).map(([name, text]) =>
    /^\p{Lu}/u.test(text) ? text : `${columnLabel(model, name)} ${text}`,
  );
  return fields.join('; ') || error.message;
}
