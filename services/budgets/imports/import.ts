import { type Static, Type } from '@octavo/core';
import { dayOrders } from '@octavo/web/imports';
import { createParser } from '../edges/schema-parser.ts';
import { Reference } from '../edges/schemas.ts';
import type { Categorization } from '../rules/index.ts';
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
    budgetId: Reference,
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
    dryRun: Type.Optional(Type.Boolean({ description: 'Preview: shows the rows without adding them' })),
    description: Type.Optional(Type.Union([Type.String({ maxLength: 500, format: 'text' }), Type.Null()])),
  },
  { title: 'ImportRequest' },
);
export type ImportRequest = Static<typeof ImportRequest>;

/** The options that say how the file is read. */
export function readOptionsOf(request: ImportRequest): ReadOptions {
  const { budgetId: _budget, dryRun: _dryRun, description: _description, ...options } = request;
  return options;
}

/** Throws `validation_failed`. */
export const parseImportRequest = createParser(ImportRequest);

/** Stored options of an import. */
export interface ImportPlan {
  readonly budgetId: string;
  /** The way the file is read; absent in plans of older versions, where the file tells it when the task runs. */
  readonly reading?: Reading;
  readonly dryRun: boolean;
  readonly sizeBytes: number;
  /** The rules when the import was asked for, so that one that is cut off goes on with the same; none in plans of older versions. */
  readonly rules?: readonly Categorization[];
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
  readonly duplicates: number;
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

export interface PreviewRow {
  readonly line: number;
  readonly spentOn: string;
  readonly description: string;
  readonly amount: number;
  readonly currency: string;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly notes: string | null;
  readonly externalId: string | null;
  readonly isDuplicate: boolean;
}
