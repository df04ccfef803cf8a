import { parseCsv } from '../csv.ts';
import { AppError } from '../errors.ts';
import { parseJson } from '../http/body.ts';
import type { Field, Value, Values } from './field.ts';
import { isSame } from './history.ts';
import type { TableModel } from './model.ts';
import { fileColumns, idOf, type Site, titleOf } from './site.ts';
import { dynamic, keyCondition, selectFields, toValues } from './table-query.ts';
import { saveInside } from './table-save.ts';
import type { Actor } from './user.ts';

/** A file has at most so many rows. */
export const importRowsMax = 10_000;
const errorsMax = 100;

/** A file of objects: names of columns and texts, from CSV or JSON. */
export interface ImportFile {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What an import would do. */
export interface ImportPlan {
  readonly added: number;
  readonly unchanged: number;
  readonly changes: readonly PlannedChange[];
  readonly errors: readonly ImportError[];
}

/** An object that would be changed. */
export interface PlannedChange {
  readonly id: string;
  readonly title: string;
  readonly fields: readonly { readonly label: string; readonly from: string; readonly to: string }[];
}

/** What is wrong with a row, by its number in the file; the first after the names is 1. */
export interface ImportError {
  readonly row: number;
  readonly message: string;
}

/** Reads a file by its name: `.json`, else CSV. Throws `invalid_input` in words for its owner. */
export function readImport(model: TableModel, name: string, content: string): ImportFile {
  return /\.json$/i.test(name) ? readJsonFile(model, content) : readCsvFile(model, content);
}

function readCsvFile(model: TableModel, content: string): ImportFile {
  const records = recordsOf(content);
  const columns = (records[0] ?? []).map((column) => column.trim());
  checkSize(model, columns, records.length - 1);
  return { columns, rows: records.slice(1) };
}

function recordsOf(content: string): string[][] {
  try {
    return parseCsv(content);
  } catch (error) {
    if (error instanceof SyntaxError) throw problem(`The file is not CSV: ${error.message}.`);
    throw error;
  }
}

/** Called before cells are made of a file: a small one can name a million columns for a million rows. */
function checkSize(model: TableModel, columns: readonly string[], rows: number): void {
  const known = fileColumns(model);
  const unknown = columns.find((column) => !known.includes(column));
  if (unknown !== undefined)
    throw problem(`The file has a column “${unknown}”. The columns are ${known.join(', ')}.`);
  const repeated = columns.find((column, index) => columns.indexOf(column) < index);
  if (repeated !== undefined) throw problem(`The file has the column “${repeated}” twice.`);
  if (rows < 1) throw problem('The file has no rows.');
  if (rows > importRowsMax) throw problem(`The file has more than ${importRowsMax} rows.`);
}

function readJsonFile(model: TableModel, content: string): ImportFile {
  const objects = parseJson(Buffer.from(content));
  const isObject = (each: unknown): each is Record<string, unknown> =>
    typeof each === 'object' && each !== null && !Array.isArray(each);
  if (!Array.isArray(objects) || !objects.every(isObject))
    throw problem('The file must be a JSON array of objects.');
  const columns = [...new Set(objects.flatMap((each) => Object.keys(each)))];
  checkSize(model, columns, objects.length);
  const text = (value: unknown) =>
    value === null || value === undefined
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value);
  return { columns, rows: objects.map((each) => columns.map((column) => text(each[column]))) };
}

function problem(message: string): AppError {
  return new AppError('invalid_input', message);
}

/** What an import would add and change. Nothing stays: it runs, and is taken back. */
export async function planImport(
  site: Site,
  model: TableModel,
  file: ImportFile,
  actor: Actor,
): Promise<ImportPlan> {
  const plan = new Plan();
  try {
    await site.database.write(
      async (session) => {
        plan.clear();
        await runImport({ site, model, actor, session }, file, plan);
        throw new TakenBack();
      },
      { alone: true },
    );
  } catch (error) {
    if (!(error instanceof TakenBack)) plan.fail(error);
  }
  return plan;
}

/** Imports a file: all of it, or nothing. Throws `validation_failed` if it would not work any more. */
export async function importAll(
  site: Site,
  model: TableModel,
  file: ImportFile,
  actor: Actor,
): Promise<ImportPlan> {
  const plan = new Plan();
  await site.database.write(
    async (session) => {
      plan.clear();
      await runImport({ site, model, actor, session }, file, plan);
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
  unchanged = 0;
  changes: PlannedChange[] = [];
  errors: ImportError[] = [];
  row = 0;

  clear(): void {
    this.added = 0;
    this.unchanged = 0;
    this.changes = [];
    this.errors = [];
  }

  /** A statement that failed has ended the transaction, so later rows were not tried. */
  fail(error: unknown): void {
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error;
    this.errors.push({ row: this.row, message: messageOf(error) });
  }
}

type Importing = Omit<Parameters<typeof saveInside>[0], 'nowMs'> & { readonly model: TableModel };

async function runImport(importing: Importing, { columns, rows }: ImportFile, plan: Plan): Promise<void> {
  const { site, model, session, actor } = importing;
  const keyColumn = columns.indexOf(model.key);
  const ids = rows.map((row) => (keyColumn === -1 ? '' : (row[keyColumn] ?? '').trim()));
  const known = await loadKnown(importing, ids);
  const writing = { site, session, actor, nowMs: site.clock.now() };
  for (const [index, row] of rows.entries()) {
    plan.row = index + 1;
    const id = ids[index] as string;
    const before = known.get(id);
    const values = readRow(model, columns, { row, before });
    const repeated = id !== '' && ids.indexOf(id) < index;
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
    const changed = differences(model, values as Values, before);
    if (before && changed.length === 0) {
      plan.unchanged++;
      continue;
    }
    if (plan.errors.length === 0)
      await saveInside(writing, model, { id: before && id, values: values as Values, children: [] });
    if (before) plan.changes.push({ id, title: titleOf(model, before), fields: changed });
    else plan.added++;
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

/** The values of a row, or what is wrong with it. Fields that nobody edits are left as they are. */
function readRow(
  model: TableModel,
  columns: readonly string[],
  { row, before }: { row: readonly string[]; before: Values | undefined },
): Values | string {
  if (row.length > columns.length)
    return `has ${row.length} cells, but the file has ${columns.length} columns`;
  const values: Record<string, Value> = {};
  const problems: string[] = [];
  for (const [name, field] of Object.entries(model.fields)) {
    const at = columns.indexOf(name);
    if (field.readOnly === true || field.isSecret || (at === -1 && before)) continue;
    const typed = row[at] ?? '';
    if (before && typed === field.format(before[name] ?? null)) continue;
    const isMissing = at === -1 || (typed === '' && !before);
    const parsed = isMissing && !field.isRequired ? { value: field.initial(0) } : field.parse(typed);
    if ('problem' in parsed) problems.push(`${field.label} ${parsed.problem}`);
    else values[name] = parsed.value;
  }
  return problems.length > 0 ? problems.join('; ') : values;
}

function differences(model: TableModel, values: Values, before: Values | undefined): PlannedChange['fields'] {
  if (!before) return [];
  return Object.entries(values)
    .filter(([name, value]) => !isSame(before[name], value))
    .map(([name, value]) => {
      const field = model.fields[name] as Field;
      return { label: field.label, from: field.format(before[name] ?? null), to: field.format(value) };
    });
}

function messageOf(error: AppError): string {
  const fields = Object.entries(error.fields);
  return fields.length > 0 ? fields.map(([name, text]) => `${name} ${text}`).join('; ') : error.message;
}
