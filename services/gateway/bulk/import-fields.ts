import {
  createRowParser,
  type FileRow,
  fieldsOfHeader,
  formatOf,
  guessMapping,
  type ImportField,
  isHeaderOf,
  type Mapping,
  type RowParser,
} from '@octavo/web/imports';

/** The fields of a post that a file has. */
export const importFields: readonly ImportField[] = [
  { name: 'title', label: 'Title', isRequired: true, synonyms: ['subject', 'headline', 'name'] },
  {
    name: 'body',
    label: 'Body',
    isRequired: true,
    synonyms: ['text', 'content', 'message', 'description'],
  },
  {
    name: 'userId',
    label: 'Author',
    isRequired: false,
    synonyms: ['user', 'author', 'username', 'writer', 'by'],
  },
];

/** Name of a file, and choices of how to read it: the columns of CSV to take, and the encoding. */
export interface ImportedFile {
  readonly name: string;
  readonly mapping?: Mapping | undefined;
  readonly encoding?: string | undefined;
}

export function createPostParser({ name, mapping }: ImportedFile): RowParser {
  return createRowParser(formatOf(name), {
    listName: 'posts',
    isHeader: (cells) => isHeaderOf(importFields, mapping, cells),
    fieldsOf: (header) => fieldsOfHeader(importFields, mapping ?? guessMapping(importFields, header), header),
  });
}

/** A post as a request would have it, and the name of its author where the file has that in place of a number. */
export interface FilePost {
  readonly post: Readonly<Record<string, unknown>>;
  readonly author?: string;
}

/** The post in a row. CSV has texts only. */
export function postOf(name: string, { values }: FileRow): FilePost {
  const { userId, author = userId, ...rest } = values;
  if (formatOf(name) === 'json' && userId !== undefined && typeof userId !== 'string')
    return { post: values };
  const text = typeof author === 'string' ? author.trim() : '';
  if (text === '') return { post: rest };
  return /^\d{1,16}$/.test(text) ? { post: { ...rest, userId: Number(text) } } : { post: rest, author: text };
}

/** A file with more wrong rows is not read further. */
export const failedMax = 10_000;
export const tooManyFailed = `More than ${failedMax.toLocaleString('en')} rows are not valid. The rest was not imported.`;

/** Names of the columns of a file with the rows that were not saved. */
export const failedColumns = ['title', 'body', 'author', 'row', 'problem'];
