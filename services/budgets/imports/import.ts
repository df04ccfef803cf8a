import { type Static, Type } from '@octavo/core';
import { dayOrders } from '@octavo/web/imports';
import { createParser } from '../edges/schema-parser.ts';
import { Currency, nullable, Reference } from '../edges/schemas.ts';
import type { ExpenseKind } from '../expenses/index.ts';
import type { RuleDefinition } from '../rules/index.ts';
import {
  importFormats,
  type ReadAs,
  type Reading,
  type ReadOptions,
  rowFields,
  separatorNames,
} from './formats/reading.ts';

const column = Type.String({ maxLength: 200, format: 'text' });
const linesMax = 10_000;

const Mapping = Type.Object(
  Object.fromEntries(
    rowFields.map((field) => [
      field,
      Type.Optional(Type.Union([column, Type.Array(column, { maxItems: 20 })])),
    ]),
  ),
  {
    description: 'CSV: column of the file for each field, by its name or number, or several that are joined',
    examples: [{ spentOn: 'Booked on', amount: 'Sum' }],
  },
);

/** Options of an import besides the file. */
export const ImportRequest = Type.Object(
  {
    format: Type.Optional(Type.Enum(importFormats, { description: 'Told by the file, if it is left out' })),
    budgetId: Type.Optional(
      nullable(
        Type.String({
          ...Reference,
          description: 'Budget of all rows, which are unassigned without one',
        }),
      ),
    ),
    currency: Type.Optional(
      Type.String({
        ...Currency,
        description:
          'Without a budget: currency of rows that name none; by default that of the newest budget',
      }),
    ),
    mapping: Type.Optional(Mapping),
    sign: Type.Optional(
      Type.Enum(['positive', 'negative'], {
        description: 'CSV: sign of the amounts that are expenses, positive by default; others are skipped',
      }),
    ),
    dateFormat: Type.Optional(
      Type.Enum(dayOrders, { description: 'CSV, QIF: needed only where the dates of the file fit several' }),
    ),
    decimal: Type.Optional(
      Type.Enum(['.', ','], {
        description: 'CSV, QIF: needed only where the amounts of the file allow both',
      }),
    ),
    encoding: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'A label of WHATWG, such as windows-1250; told by the file',
      }),
    ),
    separator: Type.Optional(Type.Enum(separatorNames, { description: 'CSV' })),
    header: Type.Optional(
      Type.Boolean({ description: 'CSV: false if no line names the columns, which are 1, 2 and so on then' }),
    ),
    skipLines: Type.Optional(
      Type.Integer({ minimum: 0, maximum: linesMax, description: 'CSV: lines before the header' }),
    ),
    skipEnd: Type.Optional(
      Type.Integer({ minimum: 0, maximum: linesMax, description: 'CSV: rows at the end that are left out' }),
    ),
    account: Type.Optional(
      Type.String({
        maxLength: 100,
        format: 'text',
        description: 'Account of the rows, where the file names none',
      }),
    ),
    match: Type.Optional(
      Type.Enum(['auto', 'none'], {
        description:
          'auto: a typed expense of the same amount, at most three days apart, is the same as a row and is not added again',
      }),
    ),
    incomes: Type.Optional(
      Type.Enum(['skip', 'keep'], {
        description:
          'Money that came in and is no refund: keep adds it to the ledger as credits without a budget; skip, the default, lists it',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'Preview: shows the rows without adding them' })),
    description: Type.Optional(Type.Union([Type.String({ maxLength: 500, format: 'text' }), Type.Null()])),
  },
  { title: 'ImportRequest' },
);
export type ImportRequest = Static<typeof ImportRequest>;

/** The options that say how the file is read. */
export function readOptionsOf(request: ImportRequest): ReadOptions {
  const {
    budgetId: _budget,
    currency: _currency,
    dryRun: _dryRun,
    match: _match,
    incomes: _incomes,
    description: _description,
    ...options
  } = request;
  return options;
}

/** Throws `validation_failed`. */
export const parseImportRequest = createParser(ImportRequest);

interface OldRule {
  readonly contains: string;
  readonly category: string;
  readonly tags: readonly string[];
}

/** Stored options of an import. */
export interface ImportPlan {
  /** Null if rules choose the budgets. */
  readonly budgetId: string | null;
  /** The way the file is read; absent in plans of older versions, where the file tells it when the task runs. */
  readonly reading?: Reading;
  readonly dryRun: boolean;
  /** Looks for typed expenses that rows are; absent in plans of older versions. */
  readonly match?: 'auto' | 'none';
  /** keep if incomes are added; absent in plans of older versions. */
  readonly incomes?: 'skip' | 'keep';
  readonly sizeBytes: number;
  /** The rules when the import was asked for, so that one that is cut off goes on with the same; absent in plans of older versions. */
  readonly ruleSet?: readonly RuleDefinition[];
  /** The rules in plans of older versions. */
  readonly rules?: readonly OldRule[];
}

export interface ImportError {
  readonly line: number;
  readonly field: string;
  readonly message: string;
}

export interface SkippedLine {
  readonly line: number;
  readonly reason: string;
}

/** Result of an import. */
export interface ImportResult {
  readonly total: number;
  /** In a dry run: what would be added. */
  readonly created: number;
  /** Those of them that are refunds; absent in results of older versions. */
  readonly refunds?: number;
  /** Those of them that are incomes; absent in results of older versions. */
  readonly incomes?: number;
  readonly duplicates: number;
  /** Rows that are typed expenses; absent in results of older versions. */
  readonly matched?: number;
  /** The first thousand; absent in results of older versions. */
  readonly duplicateLines?: readonly number[];
  /** The first thousand. */
  readonly skipped: readonly SkippedLine[];
  readonly failed: number;
  /** The first thousand. */
  readonly errors: readonly ImportError[];
  readonly readAs: ReadAs;
  /** In a dry run: the first rows that would be added. */
  readonly preview?: readonly PreviewRow[];
}

export interface TypedMatch {
  readonly id: string;
  readonly description: string;
  readonly spentOn: string;
}

export interface PreviewRow {
  readonly line: number;
  readonly spentOn: string;
  readonly description: string;
  readonly kind: ExpenseKind | 'income';
  readonly amount: number;
  readonly currency: string;
  /** The budget that it goes to; null for unassigned. */
  readonly budgetId: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly notes: string | null;
  readonly externalId: string | null;
  /** The amount before the bank converted it. */
  readonly originalAmount: number | null;
  readonly originalCurrency: string | null;
  /** The last four characters of the account that the file names. */
  readonly account: string | null;
  readonly isDuplicate: boolean;
  /** The typed expense that it is. */
  readonly matches: TypedMatch | null;
}
