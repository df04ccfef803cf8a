import { AppError } from '@octavo/core';
import type { AccountTables } from '@octavo/people/accounts';
import { sql } from 'kysely';
import {
  type AdminTables,
  choice,
  dateTime,
  flag,
  functionModel,
  integer,
  type Model,
  reference,
  tableModel,
  text,
  type Values,
} from '../index.ts';

export interface Tables extends AccountTables, AdminTables {
  author: { id: number; name: string };
  book: {
    id: number;
    title: string;
    author_id: number | null;
    genre: string;
    is_lent: number;
    pages: number | null;
    published_at_ms: number;
    added: string;
  };
  copy: { id: number; book_id: number; shelf: string; is_main: number };
  loan: { id: number; copy_id: number; reader: string };
  award: { id: number; author_id: number; name: string };
}

const genres = [
  ['novel', 'Novel'],
  ['poetry', 'Poetry'],
  ['history', 'History'],
] as const;

const author = tableModel<Tables>({
  path: 'library/author',
  label: 'author',
  table: 'author',
  title: 'name',
  fields: { name: text({ label: 'Name', charactersMax: 100 }) },
  columns: ['name'],
  search: ['name'],
  order: ['name'],
});

const book = tableModel<Tables>({
  path: 'library/book',
  label: 'book',
  table: 'book',
  title: 'title',
  description: 'Everything on the shelves.',
  fields: {
    title: text({ label: 'Title', charactersMax: 200 }),
    author: reference('library/author', { label: 'Author', column: 'author_id', isOptional: true }),
    genre: choice(genres, { label: 'Genre' }),
    pages: integer({ label: 'Pages', min: 1, max: 10_000, isOptional: true }),
    is_lent: flag({ label: 'Lent' }),
    published: dateTime({ label: 'Published', column: 'published_at_ms', initial: (nowMs) => nowMs }),
    added: dateTime({ label: 'Added', isText: true, initial: () => '2026-01-01T00:00:00.000000Z' }),
  },
  sections: [{ title: 'Dates', fields: ['published', 'added'] }],
  columns: [
    'title',
    'author',
    'genre',
    {
      label: 'Copies',
      name: 'copies',
      kind: 'number',
      expression: sql`(select count(*) from copy where copy.book_id = book.id)`,
      show: ({ copies }) => String(copies),
    },
    'is_lent',
    'published',
  ],
  search: ['title', 'author'],
  filters: [
    'genre',
    'is_lent',
    'author',
    'published',
    {
      name: 'size',
      label: 'Size',
      choices: [
        ['long', 'Long'],
        ['short', 'Short'],
      ],
      where: (size) => (size === 'long' ? sql`book.pages > 500` : sql`book.pages <= 500`),
    },
  ],
  dates: 'published',
  order: ['-published'],
  inlines: [{ model: 'library/copy', parent: 'book', extra: 2 }],
  actions: {
    lend: { label: 'Mark as lent', set: { is_lent: 1 } },
    recall: { label: 'Recall', set: { is_lent: 0 }, confirms: true },
  },
  links: ({ id }) => [{ href: `/books/${id}`, label: 'View on site' }],
  async beforeSave(_session, { after }) {
    if (after.title === 'Forbidden')
      throw new AppError('validation_failed', 'Not this one.', { fields: { title: 'is not allowed here' } });
    return undefined;
  },
});

const copy = tableModel<Tables>({
  path: 'library/copy',
  label: 'copy',
  plural: 'copies',
  table: 'copy',
  title: 'shelf',
  fields: {
    book: reference('library/book', { label: 'Book', column: 'book_id' }),
    shelf: text({ label: 'Shelf', charactersMax: 20 }),
    is_main: flag({ label: 'Main copy' }),
    number: integer({ label: 'Number', column: 'id', readOnly: true, isOptional: true }),
  },
  columns: ['shelf', 'book', 'is_main'],
  filters: ['book', 'is_main'],
  search: ['shelf', 'book'],
  uniqueErrors: { book_id: { field: 'is_main', message: 'The book already has a main copy.' } },
});

/** Notices in memory, as another service would keep them. */
export function noticeModel(notices: Map<string, Values>): Model {
  return functionModel({
    path: 'library/notice',
    label: 'notice',
    title: 'subject',
    fields: {
      subject: text({ label: 'Subject', charactersMax: 50 }),
      body: text({ label: 'Text', isLong: true, isOptional: true }),
      revision: integer({ label: 'Revision', readOnly: true, isOptional: true }),
    },
    columns: ['subject', 'revision'],
    search: ['subject'],
    sortable: ['subject'],
    async list({ words, sort, offset, limit }) {
      const found = [...notices.values()].filter(({ subject }) =>
        words.every((word) => String(subject).toLowerCase().includes(word.toLowerCase())),
      );
      const direction = sort[0]?.isDescending ? -1 : 1;
      if (sort[0]?.name === 'subject')
        found.sort((a, b) => direction * String(a.subject).localeCompare(String(b.subject)));
      return { rows: found.slice(offset, offset + limit), total: found.length, isCapped: false };
    },
    get: async (id) => notices.get(id),
    async create(values) {
      if (values.subject === 'Taken')
        throw new AppError('conflict', 'taken', { fields: { subject: 'is already taken' } });
      const id = String(notices.size + 1);
      notices.set(id, { ...values, id, revision: 1 });
      return id;
    },
    async update(id, values, { before }) {
      notices.set(id, { ...values, id, revision: Number(before.revision) + 1 });
    },
    async delete(id) {
      notices.delete(id);
    },
    actions: {
      shout: {
        label: 'Shout',
        async run(id) {
          const values = notices.get(id) as Values;
          notices.set(id, { ...values, subject: String(values.subject).toUpperCase() });
        },
      },
    },
  });
}

/** The models of the library. */
export const libraryModels: readonly Model[] = [book, author, copy];
