import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AppError, Type } from '@octavo/core';
import { html, linkButton, standalone } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { createParser } from '../edges/schema-parser.ts';
import { createTypedExpense, expenseFields, offlinePrefix } from '../expenses/index.ts';
import { pageRoutes } from '../routes.ts';
import type { PageParts, PageSession, PageVisit, Visitor } from '../site/page-context.ts';

/** Files of the pages that are kept first. Others are kept when they are used. */
const files = [
  'octavo.css',
  'octavo.js',
  'charts.css',
  'budgets.css',
  'offline.js',
  'outbox.js',
  'notices.js',
  'amounts.js',
  'typed-amount.js',
  'live.js',
];

/** Installing the pages, and what they do without a network. */
export function addOfflinePages(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { context, visitors: access } = parts;
  const open = { access: 'public' } as const;
  routes.get(pageRoutes.manifest, open, async (visit) =>
    visit.reply.type('application/manifest+json').send(JSON.stringify(manifestOf(visit))),
  );
  // Never cached (pages are not), so that the server can replace it or turn it off.
  routes.get(pageRoutes.worker, open, async (visit) => {
    const text = context.config.BUDGETS_OFFLINE ? workerFor(visit) : read('no-worker.js');
    return visit.reply.type('text/javascript; charset=utf-8').send(text);
  });
  routes.get(pageRoutes.offline, open, async (visit) => offlinePage(visit));
  routes.post(pageRoutes.offlineExpense, { access, accepts: 'application/json' }, (visitor) =>
    addOfflineExpense(visitor, parts),
  );
}

function manifestOf(visit: PageVisit): object {
  const { assets } = visit.publicFrame();
  const icon = (size: number) => ({
    src: assets.url(`icon-${size}.png`),
    sizes: `${size}x${size}`,
    type: 'image/png',
    purpose: 'any maskable',
  });
  return {
    name: 'Budgets',
    id: pageRoutes.budgets,
    start_url: pageRoutes.newExpense,
    scope: '/',
    display: 'standalone',
    background_color: '#15803d',
    theme_color: '#15803d',
    icons: [icon(192), icon(512)],
    shortcuts: [
      { name: 'Add expense', url: pageRoutes.newExpense },
      { name: 'Budgets', url: pageRoutes.budgets },
    ],
  };
}

/** The worker, with the addresses of the files of this version. */
function workerFor(visit: PageVisit): string {
  const { assets } = visit.publicFrame();
  const urls = files.map((name) => assets.url(name));
  const [, , version] = urls[0]?.split('/') ?? [];
  const options = {
    version,
    files: urls,
    start: [pageRoutes.newExpense, pageRoutes.budgets],
    fallback: pageRoutes.offline,
    signIn: pageRoutes.signIn,
  };
  return read('worker.js').replace(/const options = .*/, () => `const options = ${JSON.stringify(options)};`);
}

/** Stands in for pages that a browser has not kept. */
function offlinePage(visit: PageVisit): string {
  const frame = { ...visit.publicFrame(), service: 'Budgets', home: pageRoutes.budgets, navigation: [] };
  return standalone(frame, {
    title: 'You are offline',
    lead: 'This page was not opened on this device before.',
    main: html`<div class="actions">${linkButton(pageRoutes.newExpense, 'Add expense', 'primary')}${linkButton(pageRoutes.budgets, 'Go to budgets')}</div>`,
  });
}

const { tags: _tags, ...textFields } = expenseFields;
const names = [...Object.keys(textFields), 'tags'];
const typed = Type.Optional(Type.String({ maxLength: 4_000, format: 'text' }));

const parseOffline = createParser(
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    account: Type.String({ format: 'uuid' }),
    fields: Type.Object(Object.fromEntries(names.map((name) => [name, typed]))),
  }),
);

/** Adds an expense that was typed without a network, once, however often it is sent. */
async function addOfflineExpense({ visit, caller }: Visitor, { context }: PageParts) {
  const given = parseOffline(visit.request.body);
  if (given.account !== caller.userId) throw new AppError('forbidden', 'Another account is signed in.');
  const id = given.id.toLowerCase();
  const fields = { ...given.fields, externalId: `${offlinePrefix}${id}` };
  const digest = createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
  const command = { ...caller, idempotency: { key: `${offlinePrefix}${id}`, digest } };
  let isNew = true;
  try {
    await createTypedExpense(context, command, fields);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict' || !error.fields?.externalId) throw error;
    isNew = false;
  }
  return visit.reply.type('application/json').send(JSON.stringify({ id, isNew }));
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
