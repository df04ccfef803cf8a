import {
  type AccountSession,
  type Admin,
  accountModels,
  adminFields,
  choice,
  createAdmin,
  dateTime,
  flag,
  integer,
  reference,
  staffAccounts,
  tableModel,
  text,
} from '@octavo/admin';
import { type Clock, labelsOf } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Accounts } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { Html } from '@octavo/web/html';
import { badge } from '@octavo/web/html';
import { commentTextMax } from './comments/comment.ts';
import type { DayKeys } from './daily/index.ts';
import { categoryMax, contentNames, quoteFields } from './quotes/quote.ts';
import {
  afterSave,
  approveChanges,
  categoryColumns,
  deleteChanges,
  indexCategory,
  publish,
  quoteColumns,
  withdraw,
} from './quotes/store-admin.ts';
import { noteMax, reasonLabels, reasons, reportStatuses } from './reports/report.ts';
import { answerReports, isOpen } from './reports/store.ts';
import { categoryPath, pageRoutes, quotePath } from './routes.ts';
import type { Tables } from './tables.ts';

export interface QuotesAdminParts {
  readonly accounts: Accounts;
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly dayKeys: DayKeys;
  readonly oidc: OidcSignIn<AccountSession> | undefined;
}

/** The admin: quotes, the queue of their changes, categories, comments, the queue of reports, and the accounts. */
export function quotesAdmin({
  accounts,
  database,
  clock,
  dayKeys,
  oidc,
}: QuotesAdminParts): Admin<AccountSession> {
  const models = [
    quoteModel(clock, dayKeys),
    changeModel(clock),
    categoryModel(),
    commentModel(),
    reportModel(clock),
  ];
  return createAdmin({
    title: 'Quotes admin',
    models: [...models, ...accountModels(accounts, models)],
    accounts: staffAccounts(accounts, undefined, oidc),
    database,
    clock,
    tables: { quote_like: 'like', quote_words: null, quote_of_day: null, token_family: 'session' },
  });
}

const labelled = (names: readonly string[]) =>
  names.map((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)] as const);

function quoteModel(clock: Clock, dayKeys: DayKeys) {
  return tableModel<Tables>({
    path: 'quotes/quote',
    icon: 'book',
    waiting: { nouns: ['quote to approve', 'quotes to approve'], query: 'is_published=false' },
    label: 'quote',
    table: 'quote',
    title: 'text',
    description: 'Unpublished quotes wait for approval. Only their authors and staff see them.',
    fields: {
      ...adminFields(quoteFields),
      category: reference('quotes/category', { label: 'Category', column: 'category_id' }),
      is_published: flag({ label: 'Published', initial: 1 }),
      created_by: reference('auth/user', { label: 'Added by', isOptional: true, readOnly: true }),
      created: dateTime({ label: 'Added', column: 'created_at_ms', readOnly: true }),
      updated: dateTime({ label: 'Changed', column: 'updated_at_ms', readOnly: true }),
    },
    sections: [{ title: 'Where it comes from', fields: ['created_by', 'created', 'updated'] }],
    columns: ['text', 'author', 'category', 'attribution', 'is_published', 'created'],
    search: ['text', 'author', 'source'],
    filters: ['is_published', 'attribution', 'category'],
    dates: 'created',
    order: ['-created'],
    actions: {
      publish: {
        label: 'Publish',
        run: (session, ids) => publish(session, { ids: ids.map(Number), nowMs: clock.now(), dayKeys }),
      },
      withdraw: {
        label: 'Withdraw',
        confirms: true,
        run: (session, ids) => withdraw(session, { ids: ids.map(Number), nowMs: clock.now() }),
      },
      verify: { label: 'Mark as verified', set: { attribution: 'verified' } },
    },
    uniqueErrors: { fingerprint: { field: 'text', message: 'The author has said this already.' } },
    links: ({ id }) => [{ href: quotePath(pageRoutes.quote, Number(id)), label: 'View on site' }],
    beforeSave: (session, { before, after }, { user }) =>
      quoteColumns(session, {
        content: { text: String(after.text), author: String(after.author) },
        addedBy: before === undefined ? Number(user.id) : undefined,
        nowMs: clock.now(),
        dayKeys,
      }),
    afterSave: (session, { id }) => afterSave(session, Number(id), dayKeys),
  });
}

/** Changes of published quotes that wait for approval. Empty fields stay as they are. */
function changeModel(clock: Clock) {
  const labels = Object.entries(labelsOf(quoteFields));
  const proposed = Object.fromEntries(
    labels.map(([name, label]) => [
      name,
      { label: `New ${label.toLowerCase()}`, help: undefined, readOnly: true, isOptional: true },
    ]),
  );
  return tableModel<Tables>({
    path: 'quotes/change',
    icon: 'edit',
    waiting: { nouns: ['proposed change', 'proposed changes'], query: '' },
    label: 'change',
    table: 'quote_change',
    title: 'base_text',
    description:
      'Changes of published quotes that wait for approval. Select them, then approve or reject them. Empty fields stay unchanged.',
    fields: {
      base_text: text({ label: 'Published text', readOnly: true }),
      quote: reference('quotes/quote', { label: 'Quote', column: 'quote_id', readOnly: true }),
      ...adminFields(quoteFields, proposed),
      user: reference('auth/user', { label: 'Proposed by', column: 'user_id', readOnly: true }),
      created: dateTime({ label: 'Proposed', column: 'created_at_ms', readOnly: true }),
    },
    columns: ['base_text', ...contentNames, 'user', 'created'],
    search: ['base_text', 'text', 'author', 'user'],
    dates: 'created',
    order: ['created'],
    can: { add: false },
    actions: {
      approve: {
        label: 'Approve',
        run: (session, ids, { user }) =>
          approveChanges(session, ids.map(Number), {
            id: Number(user.id),
            username: user.name,
            isStaff: 1,
            nowMs: clock.now(),
            via: 'admin',
          }),
      },
      reject: {
        label: 'Reject',
        confirms: true,
        isDangerous: true,
        run: (session, ids) => deleteChanges(session, ids.map(Number)),
      },
    },
    links: ({ quote }) => [{ href: quotePath(pageRoutes.quote, Number(quote)), label: 'View on site' }],
  });
}

function categoryModel() {
  return tableModel<Tables>({
    path: 'quotes/category',
    icon: 'box',
    label: 'category',
    plural: 'categories',
    table: 'category',
    title: 'name',
    fields: {
      name: text({ label: 'Name', charactersMax: categoryMax }),
      slug: text({
        label: 'Slug',
        charactersMax: 80,
        isOptional: true,
        help: 'Part of the address. Leave empty to derive it from the name.',
        pattern: (slug) =>
          /^[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}]+(-[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}]+)*$/u.test(slug)
            ? undefined
            : 'must be lower-case letters, digits and single hyphens',
      }),
      quotes: integer({ label: 'Quotes', readOnly: true, isOptional: true, initial: 0 }),
    },
    columns: ['name', 'slug', 'quotes'],
    search: ['name'],
    order: ['name'],
    uniqueErrors: {
      name_key: { field: 'name', message: 'A category with that name already exists.' },
      slug: { field: 'slug', message: 'Another category has this slug.' },
    },
    links: ({ slug }) => [{ href: categoryPath(String(slug)), label: 'View on site' }],
    beforeSave: (session, { after }) =>
      categoryColumns(session, { name: String(after.name), slug: String(after.slug ?? '') }),
    async afterSave(session, { id, before, after }) {
      if (before !== undefined && before.name !== after.name) await indexCategory(session, Number(id));
    },
  });
}

function commentModel() {
  return tableModel<Tables>({
    path: 'quotes/comment',
    icon: 'comment',
    label: 'comment',
    table: 'comment',
    title: 'text',
    fields: {
      quote: reference('quotes/quote', { label: 'Quote', column: 'quote_id', readOnly: true }),
      user: reference('auth/user', { label: 'User', column: 'user_id', isOptional: true, readOnly: true }),
      text: text({ label: 'Text', charactersMax: commentTextMax, isLong: true }),
      created: dateTime({ label: 'Written', column: 'created_at_ms', readOnly: true }),
    },
    columns: ['text', 'user', 'quote', 'created'],
    search: ['text', 'user'],
    filters: ['created'],
    dates: 'created',
    order: ['-created'],
    can: { add: false },
    links: ({ quote }) => [
      { href: `${quotePath(pageRoutes.quote, Number(quote))}#comments`, label: 'View on site' },
    ],
  });
}

function reportModel(clock: Clock) {
  return tableModel<Tables>({
    path: 'quotes/report',
    icon: 'flag',
    waiting: { nouns: ['open report', 'open reports'], query: 'status=open' },
    label: 'report',
    table: 'report',
    title: 'reason',
    description: 'Problems that readers reported. Open reports wait for a decision.',
    fields: {
      quote: reference('quotes/quote', { label: 'Quote', column: 'quote_id', readOnly: true }),
      reason: choice(
        reasons.map((reason) => [reason, reasonLabels[reason]] as const),
        { label: 'Reason', readOnly: true },
      ),
      note: text({ label: 'Note', charactersMax: noteMax, isLong: true, isOptional: true, readOnly: true }),
      user: reference('auth/user', { label: 'Reported by', column: 'user_id', readOnly: true }),
      status: choice(labelled(reportStatuses), { label: 'Status' }),
      created: dateTime({ label: 'Reported', column: 'created_at_ms', readOnly: true }),
    },
    columns: [
      'reason',
      'quote',
      'note',
      'user',
      {
        label: 'Status',
        name: 'is_open',
        expression: isOpen,
        show: ({ status }) => statusBadge(String(status)),
      },
      'created',
    ],
    search: ['note', 'quote'],
    filters: ['status', 'reason'],
    dates: 'created',
    order: ['-is_open', 'created'],
    can: { add: false },
    actions: {
      resolve: { label: 'Resolve', set: { status: 'resolved' } },
      dismiss: { label: 'Dismiss', set: { status: 'dismissed' } },
      withdraw: {
        label: 'Withdraw the quotes and resolve',
        confirms: true,
        isDangerous: true,
        run: (session, ids) =>
          answerReports(session, { ids: ids.map(Number), answer: 'withdraw', nowMs: clock.now() }),
      },
      misattribute: {
        label: 'Mark the quotes as misattributed and resolve',
        confirms: true,
        run: (session, ids) =>
          answerReports(session, { ids: ids.map(Number), answer: 'misattributed', nowMs: clock.now() }),
      },
    },
    links: ({ quote }) => [
      { href: quotePath(pageRoutes.quote, Number(quote)), label: 'View on site' },
      { href: `/admin/quotes/quote/${quote}/change/`, label: 'The quote' },
    ],
  });
}

function statusBadge(status: string): Html {
  return badge(status === 'open' ? 'warn' : 'plain', status);
}
