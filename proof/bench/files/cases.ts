import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toMajor } from '@octavo/documents/values';
import type { TestBudgets } from '../../../services/budgets/testing.ts';
import { importByApi, importByPage, type Outcome } from './import.ts';

/** `right`: exactly the rows that are true. `partly`: some are missing, and named as failed. `wrong`: anything else, without a word. */
export type Verdict = 'right' | 'partly' | 'refused' | 'wrong';

export interface Judged {
  readonly file: string;
  /** The format of a statement. */
  readonly kind: string;
  readonly way: 'API' | 'page' | 'report';
  readonly verdict: Verdict;
  readonly outcome: Outcome;
}

interface Statement {
  readonly file: string;
  readonly kind: string;
  readonly currency: string;
  /** The best options that a patient person can give. */
  readonly api: object;
  /** Day and minor units of each expense. */
  readonly expect: { readonly rows: readonly (readonly [string, number])[] };
}

/** Statements of banks in a folder, with `truth.json`: by the API with the best options, and by the page as it stands. */
export async function* statements(app: TestBudgets, folder: string): AsyncGenerator<Judged> {
  for (const { file: name, kind, currency, api, expect } of await listIn<Statement>(folder, 'truth.json')) {
    const file = { name, currency, content: await readFile(join(folder, name)) };
    const byApi = await importByApi(app, file, api);
    yield { file: name, kind, way: 'API', verdict: verdictOf(byApi, expect.rows), outcome: byApi };
    const byPage = await importByPage(app, file, 'en');
    yield { file: name, kind, way: 'page', verdict: verdictOf(byPage, expect.rows), outcome: byPage };
  }
}

interface Report {
  readonly file: string;
  readonly currency?: string;
  readonly format?: string;
  readonly options?: object;
  /** Day, amount, description and category; null for any. */
  readonly want: readonly (readonly (string | number | null)[])[];
  /** Numbers of the result. */
  readonly counts?: Readonly<Record<string, number>>;
  /** Fields that the page proposes, and those that it must not. */
  readonly page?: { readonly language: string; readonly is?: Fields; readonly not?: Fields };
}
type Fields = Readonly<Record<string, string>>;

/** Small inputs after public reports, in a folder with `cases.json`. */
export async function* reports(app: TestBudgets, folder: string): AsyncGenerator<Judged> {
  for (const each of await listIn<Report>(folder, 'cases.json')) {
    const { file: name, currency = 'EUR', format = 'csv', options, page } = each;
    const file = { name, currency, content: await readFile(join(folder, name)) };
    const outcome = page
      ? await importByPage(app, file, page.language)
      : await importByApi(app, file, { format, ...options });
    const isRight = page ? proposes(outcome, page) : gives(outcome, each, currency);
    yield { file: name, kind: format, way: 'report', verdict: isRight ? 'right' : 'wrong', outcome };
  }
}

async function listIn<T>(folder: string, name: string): Promise<T[]> {
  return JSON.parse(await readFile(join(folder, name), 'utf8')) as T[];
}

function verdictOf(
  { refused, rows, result }: Outcome,
  expected: readonly (readonly [string, number])[],
): Verdict {
  if (refused !== undefined) return 'refused';
  const missing = expected.map(([day, minor]) => `${day} ${minor}`);
  let extra = 0;
  for (const { day, minor } of rows) {
    const place = missing.indexOf(`${day} ${minor}`);
    if (place === -1) extra++;
    else missing.splice(place, 1);
  }
  if (extra > 0) return 'wrong';
  if (missing.length === 0) return 'right';
  return missing.length <= result.failed ? 'partly' : 'wrong';
}

function proposes({ fields }: Outcome, { is = {}, not = {} }: NonNullable<Report['page']>): boolean {
  if (!fields) return false;
  const are = Object.entries(is).every(([name, value]) => fields[name] === value);
  return are && Object.entries(not).every(([name, value]) => ![undefined, value].includes(fields[name]));
}

function gives({ rows, result }: Outcome, { want, counts = {} }: Report, currency: string): boolean {
  if (!result || rows.length !== want.length) return false;
  const shown = rows.map((row) => [row.day, toMajor(row.minor, currency), row.description, row.category]);
  const isThere = (wanted: readonly (string | number | null)[]) =>
    shown.some((row) => wanted.every((value, place) => value === null || value === row[place]));
  const countOf = (value: unknown) => (Array.isArray(value) ? value.length : value);
  return want.every(isThere) && Object.entries(counts).every(([name, n]) => countOf(result[name]) === n);
}
