import type { DecimalSign } from '@octavo/documents/values';
import type { DayOrder } from '@octavo/web/imports';

export const importFormats = ['csv', 'ofx', 'qif', 'camt', 'mt940'] as const;
export type ImportFormat = (typeof importFormats)[number];

export const separatorNames = [',', ';', '|', 'tab'] as const;

/** Our fields of a row, which a mapping assigns to columns of a CSV file. */
export const rowFields = [
  'spentOn',
  'description',
  'amount',
  'debit',
  'credit',
  'direction',
  'currency',
  'category',
  'tags',
  'notes',
  'externalId',
  'account',
] as const;
export type RowField = (typeof rowFields)[number];

/** The columns of our fields, by their names or numbers. */
export type Mapping = Readonly<Partial<Record<RowField, string | readonly string[]>>>;

export type Sign = 'positive' | 'negative';

/** Choices of a person about how a file is read. What is left out is told by the file. */
export interface ReadOptions {
  readonly format?: ImportFormat | undefined;
  readonly mapping?: Mapping | undefined;
  readonly encoding?: string | undefined;
  readonly separator?: (typeof separatorNames)[number] | undefined;
  readonly header?: boolean | undefined;
  readonly skipLines?: number | undefined;
  readonly skipEnd?: number | undefined;
  readonly dateFormat?: DayOrder | undefined;
  readonly decimal?: DecimalSign | undefined;
  /** CSV: the sign of amounts that are expenses. */
  readonly sign?: Sign | undefined;
  readonly account?: string | undefined;
}

export interface SurveyOptions extends ReadOptions {
  /** The currency of the budget, or that of rows that name none. */
  readonly currency: string;
  /** True if rows may be in any currency. */
  readonly anyCurrency?: boolean | undefined;
  /** True to choose what the file leaves open, to be shown to a person; else it is a problem. */
  readonly guesses: boolean;
  /** Locale of the person. */
  readonly locale?: string | undefined;
}

/** The way a file is read: all that its rows are read by. */
export interface Reading {
  readonly format: ImportFormat;
  readonly encoding: string;
  /** Confidence in the encoding, from 0 to 1. */
  readonly confidence: number;
  readonly currency: string;
  /** True if rows may be in any currency; absent in readings of older versions. */
  readonly anyCurrency?: boolean | undefined;
  readonly separator: string;
  /** The line with the names of columns; null if there is none. */
  readonly header: number | null;
  readonly names: readonly string[];
  readonly skippedLines: readonly number[];
  readonly skipEnd: number;
  /** CSV: the positions of the columns of each field. */
  readonly columns: Readonly<Partial<Record<RowField, readonly number[]>>>;
  /** CSV: columns that describe a row without a description. */
  readonly fallbacks: readonly number[];
  readonly dateFormat: DayOrder;
  readonly decimal: DecimalSign;
  readonly sign: Sign;
  readonly account: string | null;
  /** Choices that were made for the person, and could be otherwise. */
  readonly unclear: readonly { readonly option: 'dateFormat' | 'decimal'; readonly example: string }[];
}

/** A reading as the result of an import shows it. */
export interface ReadAs {
  readonly format: ImportFormat;
  readonly encoding: string;
  readonly separator: string | null;
  readonly header: number | null;
  readonly skippedLines: readonly number[];
  readonly dateFormat: DayOrder;
  readonly decimal: DecimalSign;
  readonly sign: Sign;
  readonly columns: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

const confident = 0.8;

export function readAsOf(reading: Reading): ReadAs {
  const { format, encoding, confidence, separator, header, skippedLines, dateFormat, decimal, sign } =
    reading;
  const isCsv = format === 'csv';
  const columns = Object.entries(reading.columns).map(([field, places]) => {
    return [field, places.map((place) => reading.names[place] ?? String(place + 1)).join(' + ')];
  });
  return {
    format,
    encoding,
    separator: isCsv ? separator : null,
    header,
    skippedLines,
    dateFormat,
    decimal,
    sign,
    columns: Object.fromEntries(columns),
    warnings: confidence < confident ? [`the letters are read as ${encoding}, which is a guess`] : [],
  };
}

/** The texts of a row, as they are in the file. */
export type RowTexts = Readonly<Partial<Record<RowField | 'originalCurrency' | 'rate' | 'type', string>>>;

/** A row of a file before its texts are read. The line is its first one, counted from 1. */
export type RawRow =
  | { readonly line: number; readonly texts: RowTexts }
  | { readonly line: number; readonly error: RowError }
  | { readonly line: number; readonly skipped: string }
  /** A line above, below or between the rows of the table. */
  | { readonly line: number; readonly isOutside: true };

export interface RowError {
  readonly field: string;
  readonly message: string;
}

/** Splits a file into rows piece by piece. */
export interface RowSource {
  push(text: string): RawRow[];
  /** The rest, at the end of the file. */
  end(): RawRow[];
}
