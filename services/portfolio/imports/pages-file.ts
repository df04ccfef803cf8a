import { readFile, stat } from 'node:fs/promises';
import { AppError } from '@octavo/core';
import {
  createRowParser,
  type FileRow,
  fieldsOfHeader,
  guessMapping,
  ImportProblem,
  isHeaderOf,
  type Mapping,
  textOfFile,
} from '@octavo/web/imports';
import { compileValidator, parseJson } from '@octavo/web/validation';
import { type Imported, imported, type Kind, kinds } from '../records.ts';
import { refusal } from '../store/import.ts';
import { type AmountReading, withMinorAmounts } from './amounts.ts';
import { importFieldsOf, isJsonText } from './fields.ts';

const bytesMax = 50 * 1024 * 1024;
const recordsMax = 100_000;

/** The records of a file, as {@link parseImport} reads them. */
export async function readImport(
  file: string,
  { kind, decimal }: { readonly kind?: string | undefined; readonly decimal?: string | undefined },
): Promise<Imported> {
  if (decimal !== undefined && decimal !== '.' && decimal !== ',')
    throw invalid('--decimal must be “.” or “,”');
  try {
    const { size } = await stat(file);
    if (size > bytesMax) throw invalid(`${file} must be at most ${bytesMax} bytes`);
    return parseImport(await readFile(file), { kind, decimal });
  } catch (error) {
    if (error instanceof AppError && error.reason === 'DECIMAL')
      throw invalid(`${error.message} Add --decimal . or --decimal ,`);
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw syscall === undefined ? error : invalid(`${file} cannot be read: ${code}`);
  }
}

/** Reading of a file that does not explain itself. */
export interface Reading extends AmountReading {
  /** Kind of records in a CSV file, or in JSON that is one list. */
  readonly kind?: string | undefined;
  /** CSV: the column of each field; by default those that are called so. */
  readonly mapping?: Mapping | undefined;
}

/**
 * The records of a file: JSON `{team, investments, sectors}`, or CSV of one kind, whose lists have semicolons between and whose links
 * are `name=address`. Amounts may be written as people write them. Throws `validation_failed` that names each bad record and field.
 */
export function parseImport(bytes: Buffer, { kind, mapping, ...reading }: Reading): Imported {
  if (kind !== undefined && !kinds.includes(kind as Kind))
    throw invalid(`--kind must be one of ${kinds.join(', ')}`);
  const isJson = isJsonText(bytes.subarray(0, 1_024).toString());
  if (!isJson && kind === undefined) throw invalid(`a CSV file needs --kind ${kinds.join('|')}`);
  const problems = new Map<string, string>();
  const given = isJson
    ? readJson(bytes, kind)
    : { [kind as Kind]: readCsv(bytes, { kind: kind as Kind, mapping }, problems) };
  return validated(given, reading, problems);
}

function readJson(bytes: Buffer, kind: string | undefined): Partial<Record<Kind, unknown>> {
  const start = bytes.subarray(0, 3).toString('hex') === 'efbbbf' ? 3 : 0;
  const given = parseJson(bytes.subarray(start)) as Partial<Record<Kind, unknown>>;
  if (kind !== undefined) return { [kind]: Array.isArray(given) ? given : given[kind as Kind] };
  if (Array.isArray(given)) throw invalid(`a file with one list needs --kind ${kinds.join('|')}`);
  if (!kinds.some((each) => each in given)) throw invalid(`the file has none of ${kinds.join(', ')}`);
  return given;
}

function readCsv(
  bytes: Buffer,
  { kind, mapping }: { readonly kind: Kind; readonly mapping: Mapping | undefined },
  problems: Map<string, string>,
): object[] {
  const parser = createRowParser('csv', {
    rowsMax: recordsMax,
    isHeader: (cells) => isHeaderOf(importFieldsOf(kind, cells), mapping, cells),
    fieldsOf(header) {
      const fields = importFieldsOf(kind, header);
      return fieldsOfHeader(fields, mapping ?? guessMapping(fields, header), header);
    },
  });
  try {
    const rows = [...parser.push(textOfFile(bytes).text), ...parser.end()];
    return rows.map((row, index) => {
      const problem = problemOf(row);
      if (problem !== undefined) problems.set(`${kind}[${index}]`, problem);
      return recordOf(row.values as Record<string, string>, imported[kind].properties);
    });
  } catch (error) {
    throw error instanceof ImportProblem ? invalid(error.message) : error;
  }
}

/** Cells that are missing at the end of a row are empty, and empty ones too many are nothing. */
function problemOf({ problem, rest }: FileRow): string | undefined {
  return rest?.every((cell) => cell.trim() === '') ? undefined : problem;
}

/** Empty cells are absent. */
function recordOf(
  row: Readonly<Record<string, string>>,
  properties: Readonly<Record<string, object>>,
): object {
  const cells = Object.entries(row).map(([name, cell]) => [name, cell.trim()] as const);
  return Object.fromEntries(
    cells
      .filter(([, cell]) => cell !== '')
      .map(([name, cell]) => [name, cellValue(cell, Reflect.get(properties[name] ?? {}, 'type'))]),
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

function validated(
  given: Partial<Record<Kind, unknown>>,
  reading: AmountReading,
  problems: Map<string, string>,
): Imported {
  const listOf = <T>(kind: Kind): T[] => {
    const records = given[kind] ?? [];
    if (!Array.isArray(records)) problems.set(kind, 'must be an array');
    else if (records.length > recordsMax) problems.set(kind, `must have at most ${recordsMax} items`);
    else {
      const read = kind === 'investments' ? withMinorAmounts(records, reading, problems) : records;
      return checked(kind, read, problems) as T[];
    }
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
