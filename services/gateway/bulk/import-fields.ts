import { fieldsOfHeader, guessMapping, type ImportField, type Mapping } from '#kit/imports/columns.ts';
import { createRowParser, type FileRow, formatOf, type RowParser } from '#kit/imports/rows.ts';

/** The fields of a post that a file has. */
export const importFields: readonly ImportField[] = [
  { name: 'title', label: 'Title', isRequired: true, synonyms: ['subject', 'headline', 'name'] },
  {
    name: 'body',
    label: 'Body',
    isRequired: true,
    synonyms: ['text', 'content', 'message', 'description'],
  },
  { name: 'userId', label: 'User ID', isRequired: false, synonyms: ['user', 'author'] },
];

/** Name of a file, and the columns of CSV to take; the usual ones by default. */
export interface ImportedFile {
  readonly name: string;
  readonly mapping?: Mapping | undefined;
}

export function createPostParser({ name, mapping }: ImportedFile): RowParser {
  return createRowParser(formatOf(name), {
    listName: 'posts',
    fieldsOf: (header) => fieldsOfHeader(importFields, mapping ?? guessMapping(importFields, header), header),
  });
}

/** The post in a row, as a request would have it. CSV has texts only. */
export function postOf(name: string, { values }: FileRow): Readonly<Record<string, unknown>> {
  if (formatOf(name) === 'json') return values;
  const { userId, ...texts } = values as Readonly<Record<string, string>>;
  if (userId === undefined || userId.trim() === '') return texts;
  return { ...texts, userId: /^\d{1,16}$/.test(userId.trim()) ? Number(userId) : userId };
}
