import { createHash } from 'node:crypto';
import { AppError, isoDay, newId, notFound } from '@octavo/core';
import type { Reading } from '@octavo/documents/values';
import {
  type FormProblem,
  type Frame,
  formProblem,
  type Html,
  html,
  layout,
  type NavigationItem,
  type PageContent,
  readerLocale,
  signsOf,
} from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import type { FastifyReply } from 'fastify';
import {
  accountName,
  authenticateSession,
  type BrowserSession,
  type SignedIn,
} from '../authentication/index.ts';
import type { Caller, Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { readSum } from '../money/written-sum.ts';
import { unreadNotifications } from '../notifications/index.ts';
import { pageRoutes } from '../routes.ts';
import { changedElsewhere } from './form-fields.ts';

export type PageSession = BrowserSession;

export type PageVisit = Visit<PageSession>;

/** A user who looks at a page. */
export interface Visitor {
  readonly visit: PageVisit;
  readonly caller: SignedIn;
  /** The day in UTC. */
  readonly today: string;
  /** Hidden field for every form on the page. */
  readonly csrfField: Html;
  /** The page with navigation. */
  render(page: PageContent): Promise<string>;
}

export type Visitors = (visit: PageVisit) => Promise<Visitor>;

/** Dependencies of the pages. */
export interface PageParts {
  readonly context: Context;
  readonly visitors: Visitors;
}

/** The reason of the error for strangers, who get the sign-in page. */
export const signInRequired = 'SIGN_IN_REQUIRED';

/**
 * The access of pages: signed-in users.
 * @param count counts the request, and throws `rate_limited` if there are too many
 */
export function createVisitors(
  context: Context,
  count: (caller: SignedIn, reply: FastifyReply) => void,
): Visitors {
  return async (visit) => {
    const { sessionId } = visit.who ?? {};
    const caller = sessionId === undefined ? undefined : await authenticateSession(context, sessionId);
    if (!caller) throw new AppError('unauthenticated', 'Sign in first.', { reason: signInRequired });
    count(caller, visit.reply);
    return {
      visit,
      caller,
      today: isoDay(context.clock.now()),
      get csrfField() {
        return visit.frame().csrfField;
      },
      render: async (page) =>
        layout(await frameOf(context, visit, caller), {
          styles: ['charts.css', 'budgets.css'],
          ...page,
          modules: ['offline.js', ...(page.modules ?? [])],
        }),
    };
  };
}

/** The frame of an error page, with the navigation of the signed-in user if the session can be read. */
export async function errorFrame(context: Context, visit: PageVisit): Promise<Frame> {
  try {
    const { sessionId } = visit.who ?? {};
    const caller = sessionId === undefined ? undefined : await authenticateSession(context, sessionId);
    if (caller) return await frameOf(context, visit, caller);
  } catch {
    // The database may be what failed.
  }
  return strangerFrame(visit);
}

/** The frame of pages for strangers. */
export function strangerFrame(visit: PageVisit): Frame {
  return {
    ...visit.frame(),
    service: 'Budgets',
    home: pageRoutes.budgets,
    navigation: [],
    flash: visit.takeFlash(),
  };
}

async function frameOf(context: Context, visit: PageVisit, caller: Caller): Promise<Frame> {
  const [{ name, email }, { count, lastSeq }] = await Promise.all([
    accountName(context, caller),
    unreadNotifications(context, caller),
  ]);
  const unread = html`<span class="badge" data-live="${`${pageRoutes.notificationStream}?after=${lastSeq}`}" data-unread="${count}" title="Unread">${count > 0 && count}</span>`;
  return {
    ...visit.frame(),
    service: 'Budgets',
    home: pageRoutes.budgets,
    navigation: navigationWith(unread),
    account: {
      name,
      detail: email === undefined || email === name ? 'Signed in' : email,
      signOutHref: pageRoutes.signOut,
      href: pageRoutes.settings,
    },
    flash: visit.takeFlash(),
    install: {
      manifest: pageRoutes.manifest,
      touchIcon: 'icon-192.png',
      account: caller.userId,
      worker: context.config.BUDGETS_OFFLINE ? pageRoutes.worker : undefined,
    },
  };
}

function navigationWith(unread: Html): NavigationItem[] {
  return [
    { href: pageRoutes.budgets, label: 'Budgets', icon: 'wallet' },
    { href: pageRoutes.expenses, label: 'Expenses', icon: 'list', searches: 'q' },
    { href: `${pageRoutes.expenses}?budget=none`, label: 'Unassigned', icon: 'box' },
    { href: pageRoutes.recurring, label: 'Recurring', icon: 'calendar' },
    { href: pageRoutes.reports, label: 'Reports', icon: 'chart' },
    { href: pageRoutes.notifications, label: 'Notifications', icon: 'bell', extra: unread },
    { href: pageRoutes.orders, label: 'Orders', icon: 'box', group: 'Sales' },
    { href: pageRoutes.customers, label: 'Customers', icon: 'users', group: 'Sales' },
    { href: pageRoutes.import, label: 'Import', icon: 'upload', group: 'Records' },
    { href: pageRoutes.rules, label: 'Rules', icon: 'flag', group: 'Records' },
    { href: pageRoutes.transactions, label: 'Ledger', icon: 'link', group: 'Records' },
    { href: pageRoutes.tasks, label: 'Tasks', icon: 'pulse', group: 'Records' },
    { href: pageRoutes.settings, label: 'Settings', icon: 'settings', group: 'Account' },
    { href: '/docs', label: 'API', icon: 'screen', group: 'Account' },
  ];
}

interface Submission<T> {
  work(): Promise<T>;
  /** Responds after success, mostly by a redirect. */
  done(result: T): FastifyReply | Promise<FastifyReply>;
  /** The form again. */
  again(problem: FormProblem): Promise<string> | string;
}

/** Runs the action of a form. Errors that its user can correct are shown in the form, with the typed values. */
export async function submit<T>(
  visit: PageVisit,
  { work, done, again }: Submission<T>,
): Promise<FastifyReply | string> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    const problem = missingBudget(visit, error) ?? problemOf(error);
    visit.reply.code(problem.status);
    return again(problem);
  }
  return done(result);
}

/** The problem of a form that names a budget which was deleted, or is no longer shared. */
function missingBudget(visit: PageVisit, error: unknown): FormProblem | undefined {
  const id = visit.field('budgetId');
  const isMissing =
    error instanceof AppError &&
    error.code === 'not_found' &&
    error.message === notFound('budget', id).message;
  return isMissing
    ? { status: 422, errors: { budgetId: 'does not exist anymore. Choose another one' } }
    : undefined;
}

/** Other errors are thrown again. */
function problemOf(error: unknown): FormProblem {
  if (error instanceof AppError && error.code === 'precondition_failed') {
    const problem = 'This was changed elsewhere since you opened it. Check the values below and save again.';
    return { status: changedElsewhere, errors: {}, problem };
  }
  const shown = formProblem(error, {});
  const errors = Object.entries(shown.errors).map(([name, message]) => [fieldNameOf(name), message]);
  return { ...shown, errors: Object.fromEntries(errors) };
}

/** Name of the field of a form that has an item of a list, such as `tags` for `tags[1]`. */
function fieldNameOf(name: string): string {
  return name.replace(/\[\d+\]$/, '');
}

/** A hidden field that makes the form's command happen once, however often it is sent. */
export function onceField(): Html {
  return html`<input type="hidden" name="once" value="${newId()}">`;
}

/** The caller of a form with {@link onceField}. The same form with other contents is another command. */
export function callerWithIdempotencyKey({ visit, caller }: Visitor): Caller {
  const once = visit.field('once');
  if (!/^[\w-]{8,64}$/.test(once)) return caller;
  const { request } = visit;
  const { _csrf, ...fields } = visit.fields();
  const digest = createHash('sha256')
    .update(JSON.stringify([request.url, fields]))
    .digest('base64url');
  return { ...caller, idempotency: { key: `form-${once}-${digest}`, digest } };
}

/** The fields of a form that are filled in, without white space around them. */
export function filled(visit: PageVisit, names: readonly string[]): Record<string, string> {
  const given = names.map((name) => [name, visit.field(name).trim()] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ''));
}

/**
 * A typed amount or sum of amounts, as rules take it. The reader's locale says what `1,234` means. Throws
 * `validation_failed` for the field, also if it could mean two things.
 */
export function typedAmount(
  typed: number | string,
  { field, currency }: { readonly field: string; readonly currency: string },
): number | string {
  if (typeof typed === 'number') return typed;
  const read = readSum(typed, currency, readingOfReader());
  if (read.problem !== undefined) throw invalid({ [field]: read.problem });
  return read.text;
}

/** Tags of a form, separated by commas. */
export function typedTags(text: string): string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

/** Signs of the numbers that the reader of the page types; none for clients that name no language. */
export function readingOfReader(): Reading {
  const locale = readerLocale();
  return locale === undefined ? {} : signsOf(locale);
}

/** A parameter of the address; empty if it is absent or repeated. */
export function parameter({ request }: PageVisit, name: string): string {
  const value = (request.query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** The id in the address. */
export function idOf({ request }: PageVisit): string {
  return (request.params as { readonly id: string }).id;
}

/** The version of the entity that the form was made for. */
export function versionsOf(visit: PageVisit): readonly number[] | undefined {
  const version = /^\d{1,15}$/.exec(visit.field('version'))?.[0];
  return version === undefined ? undefined : [Number(version)];
}
