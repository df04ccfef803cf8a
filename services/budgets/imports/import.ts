import { type Static, Type } from '#kit/base/schema.ts';
import { createParser } from '../edges/schema-parser.ts';
import { Reference } from '../edges/schemas.ts';
import type { Categorization } from '../rules/index.ts';
import {
  type DateFormat,
  dateFormats,
  type ImportFormat,
  importFormats,
  type RowField,
  rowFields,
} from './formats/row.ts';

const Mapping = Type.Object(
  Object.fromEntries(
    rowFields.map((field) => [field, Type.Optional(Type.String({ maxLength: 200, format: 'text' }))]),
  ),
  {
    description: 'CSV: column of the file for each field',
    examples: [{ spentOn: 'Booked on', amount: 'Sum' }],
  },
);

/** Options of an import besides the file. */
export const ImportRequest = Type.Object(
  {
    format: Type.Enum(importFormats),
    budgetId: Reference,
    mapping: Type.Optional(Mapping),
    sign: Type.Optional(
      Type.Enum(['positive', 'negative'], {
        description: 'CSV: sign of the amounts that are expenses; others are skipped',
      }),
    ),
    dateFormat: Type.Optional(
      Type.Enum(dateFormats, {
        description: 'ymd by default; for QIF, the format that fits the file, if only one does',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'Preview: shows the rows without adding them' })),
    description: Type.Optional(Type.Union([Type.String({ maxLength: 500, format: 'text' }), Type.Null()])),
  },
  { title: 'ImportRequest' },
);
export type ImportRequest = Static<typeof ImportRequest>;

/** Throws `validation_failed`. */
export const parseImportRequest = createParser(ImportRequest);

/** Stored options of an import. */
export interface ImportPlan {
  readonly format: ImportFormat;
  readonly budgetId: string;
  readonly mapping: Readonly<Partial<Record<RowField, string>>>;
  readonly sign: 'positive' | 'negative';
  readonly dateFormat: DateFormat;
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

/** Result of an import. */
export interface ImportResult {
  readonly total: number;
  /** In a dry run: what would be added. */
  readonly created: number;
  readonly duplicates: number;
  readonly skipped: number;
  readonly failed: number;
  /** The first thousand. */
  readonly errors: readonly ImportError[];
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
