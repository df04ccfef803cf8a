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
    description: 'CSV: from our field to the column of the file',
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
        description: 'CSV: which amounts are expenses; others are skipped',
      }),
    ),
    dateFormat: Type.Optional(
      Type.Enum(dateFormats, {
        description: 'ymd by default; for QIF what the file shows, where only one fits',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'Only shows what would be added' })),
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
