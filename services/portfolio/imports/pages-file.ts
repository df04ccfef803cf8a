import { readFile, stat } from 'node:fs/promises';
import { AppError } from '#kit/base/errors.ts';
import { parseJson } from '#kit/http/requests/body.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
import type { Mapping } from '#kit/imports/columns.ts';
import { type Imported, imported, type Kind, kinds } from '../records.ts';
import { refusal } from '../store/import.ts';
import { isJsonText } from './fields.ts';

const bytesMax = 50 * 1024 * 1024;
const recordsMax = 100_000;

/** The records of a file, as {@link parseImport} reads them. */
export async function readImport(file: string, kind: string | undefined): Promise<Imported> {
  try {
    const { size } = await stat(file);
    if (size > bytesMax) throw invalid(`${file} must be at most ${bytesMax} bytes`);
    return await parseImport(await readFile(file), { kind });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw syscall === undefined ? error : invalid(`${file} cannot be read: ${code}`);
  }
}

/** Reading of a file that does not explain itself. */
export interface Reading {
  /** Of a CSV file, or of JSON that is one list. */
  readonly kind?: string | undefined;
  /** CSV: the column of each field; by default those with the names of the fields. */
  readonly mapping?: Mapping | undefined;
}

/**
 * The records of a file: JSON `{team, investments, sectors}`, or CSV of one kind, whose lists have semicolons between and whose links
 * are `name=address`. Throws `validation_failed` that names each bad record and field.
 */
export async function parseImport(bytes: Buffer, { kind, mapping }: Reading): Promise<Imported> {
  if (kind !== undefined && !kinds.includes(kind as Kind))
    throw invalid(`--kind must be one of ${kinds.join(', ')}`);
  const isJson = isJsonText(bytes.subarray(0, 1_024).toString());
  if (!isJson && kind === undefined) throw invalid(`a CSV file needs --kind ${kinds.join('|')}`);
  const given = isJson
    ? readJson(bytes, kind)
    : { [kind as Kind]: await readCsv(bytes, kind as Kind, mapping) };
  return validated(given);
}

function readJson(bytes: Buffer, kind: string | undefined): Partial<Record<Kind, unknown>> {
  const start = bytes.subarray(0, 3).toString('hex') === 'efbbbf' ? 3 : 0;
  const given = parseJson(bytes.subarray(start)) as Partial<Record<Kind, unknown>>;
  if (kind !== undefined) return { [kind]: Array.isArray(given) ? given : given[kind as Kind] };
  if (Array.isArray(given)) throw invalid(`a file with one list needs --kind ${kinds.join('|')}`);
  if (!kinds.some((each) => each in given)) throw invalid(`the file has none of ${kinds.join(', ')}`);
  return given;
}

async function readCsv(bytes: Buffer, kind: Kind, mapping?: Mapping): Promise<object[]> {
  const { parse } = await import('csv-parse/sync');
  try {
    const rows: Record<string, string>[] = parse(bytes, {
      bom: true,
      columns: true,
      skip_empty_lines: true,
      trim: true,
    });
    return rows.map((row) => recordOf(mapping ? mapped(row, mapping) : row, imported[kind].properties));
  } catch (error) {
    throw invalid(`the file is not CSV: ${(error as Error).message}`);
  }
}

function mapped(row: Readonly<Record<string, string>>, mapping: Mapping): Record<string, string> {
  return Object.fromEntries(Object.entries(mapping).map(([field, column]) => [field, row[column] ?? '']));
}

/** Empty cells are absent. */
function recordOf(
  row: Readonly<Record<string, string>>,
  properties: Readonly<Record<string, object>>,
): object {
  const cells = Object.entries(row).filter(([name, cell]) => name in properties && cell !== '');
  return Object.fromEntries(
    cells.map(([name, cell]) => [name, cellValue(cell, Reflect.get(properties[name] ?? {}, 'type'))]),
  );
}

function cellValue(cell: string, type: unknown): unknown {
  if (type === 'integer') return /^-?\d+$/.test(cell) ? Number(cell) : cell;
  const parts = () =>
    cell
      .split(';')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  if (type === 'array') return parts();
  if (type !== 'object') return cell;
  return Object.fromEntries(parts().map((part) => [part.split('=', 1)[0], part.replace(/^[^=]*=/, '')]));
}

function validated(given: Partial<Record<Kind, unknown>>): Imported {
  const problems = new Map<string, string>();
  const listOf = <T>(kind: Kind): T[] => {
    const records = given[kind] ?? [];
    if (!Array.isArray(records)) problems.set(kind, 'must be an array');
    else if (records.length > recordsMax) problems.set(kind, `must have at most ${recordsMax} items`);
    else return checked(kind, records, problems) as T[];
    return [];
  };
  const records: Imported = {
    team: listOf('team'),
    investments: listOf('investments'),
    sectors: listOf('sectors'),
  };
  if (problems.size > 0) throw refusal(problems);
  return records;
}

function checked(kind: Kind, records: readonly unknown[], problems: Map<string, string>): unknown[] {
  const check = compileValidator(imported[kind], '');
  return records.flatMap((record, index) => {
    const { value, fields } = check(record) as { value?: unknown; fields?: Record<string, string> };
    for (const [name, problem] of Object.entries(fields ?? {})) {
      problems.set(`${kind}[${index}]${name && '.'}${name}`, problem);
    }
    return fields ? [] : [value];
  });
}

function invalid(message: string): AppError {
  return new AppError('invalid_input', message);
}
