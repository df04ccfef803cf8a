import type { Clock } from '@octavo/core';
import { AppError, type Static, Type } from '@octavo/core';
import type { StoredObject } from '@octavo/data/objects';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import {
  type Column,
  count,
  empty,
  type Frame,
  formatBytes,
  type Html,
  html,
  layout,
  linkButton,
  menu,
  notice,
  pager,
  table,
  time,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { sendRanged, sendStream, whenDelivered } from '@octavo/web/server';
import type { Validation } from '@octavo/web/validation';
import { compileTextValidator } from '@octavo/web/validation';
import type { PageSession, Visitors } from '../access/index.ts';
import { PageFilter, toPostFilter } from '../posts/index.ts';
import { exportPath, link, pageRoutes } from '../routes.ts';
import { exportEncodings, exportFile, FormatQuery } from './export-file.ts';
import type { CopyFailure, StoredExports } from './store.ts';
import { headersOf, nameOf } from './stored-export.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly clock: Clock;
  /** Absent if the object store is off. */
  readonly exports: StoredExports | undefined;
}

const pageSize = 50;

const PageExport = Type.Object({ ...PageFilter.properties, ...FormatQuery.properties });
type PageExport = Static<typeof PageExport>;

/** Adds the API's files for browsers, which have a session and no token. */
export function addExportPages(routes: PageRoutes<PageSession>, parts: Parts): void {
  const { visitors, posts, clock, exports } = parts;
  const access = visitors('export', 'read');
  const parseQuery = compileTextValidator(PageExport) as (query: object) => Validation<PageExport>;
  routes.get(pageRoutes.exportPosts, { access }, async ({ visit, call }) => {
    // Browsers download the file to open it in a spreadsheet.
    const parsed = parseQuery({ bom: '1', ...(visit.request.query as object) });
    if (parsed.fields) {
      throw new AppError('invalid_input', 'This export is not possible.', { fields: parsed.fields });
    }
    const wanted = { ...parsed.value, filter: toPostFilter(parsed.value) };
    const file = exportFile(wanted, { posts, nowMs: clock.now(), call });
    const chunks = exports ? exports.copied(file, whenDelivered(visit.reply)) : file.chunks;
    visit.reply.headers(file.headers);
    return sendStream(visit.reply, chunks, { encodings: exportEncodings });
  });
  routes.get(pageRoutes.storedExports, { access }, async ({ visit, may, frame }) => {
    const { page } = visit.request.query as { page?: unknown };
    const view = await viewOf(exports, Number(page));
    if (view.state !== 'listed') visit.reply.code(503);
    return storedExportsPage(frame(), view, { requestId: visit.request.id, mayDelete: may.deleteExports });
  });
  if (!exports) return;
  routes.get(pageRoutes.storedExport, { access }, async ({ visit }) => {
    const { name = '' } = visit.request.params as { name?: string };
    const object = await exports.find(name);
    visit.reply.headers(headersOf(object));
    return sendRanged(visit.reply, { ...object, read: (range) => exports.read(object, range) });
  });
}

async function viewOf(exports: StoredExports | undefined, wantedPage: number): Promise<StoredExportsView> {
  if (!exports) return { state: 'off' };
  try {
    const all = await exports.list();
    const pages = Math.ceil(all.length / pageSize) || 1;
    const page = Number.isInteger(wantedPage) ? Math.min(Math.max(wantedPage, 1), pages) : 1;
    const objects = all.slice((page - 1) * pageSize, page * pageSize);
    return { state: 'listed', objects, page, total: all.length, failure: exports.failure };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
    return { state: 'down', reason: error.message };
  }
}

type StoredExportsView =
  | { readonly state: 'off' }
  | { readonly state: 'down'; readonly reason: string }
  | {
      readonly state: 'listed';
      /** One page of the list. */
      readonly objects: readonly StoredObject[];
      readonly page: number;
      readonly total: number;
      readonly failure: CopyFailure | undefined;
    };

interface PageOptions {
  readonly requestId: string;
  readonly mayDelete: boolean;
}

function storedExportsPage(frame: Frame, view: StoredExportsView, options: PageOptions): string {
  const total = view.state === 'listed' ? view.total : 0;
  return layout(frame, {
    title: 'Exports',
    ...(total > 0 && { lead: count(total, 'stored file') }),
    ...(total > 0 && { actions: exportNow }),
    main: mainOf(view, options),
  });
}

const exportNow = menu('Export now', [
  { href: link(pageRoutes.exportPosts, { format: 'json' }), label: 'All posts as JSON', download: true },
  {
    href: link(pageRoutes.exportPosts, { format: 'csv' }),
    label: 'All posts as CSV for spreadsheets',
    download: true,
  },
]);

function mainOf(view: StoredExportsView, { requestId, mayDelete }: PageOptions): Html {
  if (view.state === 'off') {
    return empty({
      icon: 'inbox',
      title: 'Stored exports are turned off',
      text: 'You can still export posts, but no copy is kept. An operator can turn the store on with the setting OBJECT_STORE.',
      actions: exportNow,
    });
  }
  if (view.state === 'down') {
    return html`${notice('bad', html`${view.reason} You can still export posts, but no copy is kept.`, { title: 'The stored exports are not available' })}
<div class="actions">${linkButton(pageRoutes.storedExports, 'Try again')}${exportNow}</div><p class="small muted">Request <code>${requestId}</code></p>`;
  }
  const { objects, page, total, failure } = view;
  return html`${failure && failureNotice(failure)}${total > 0 ? fileTable(objects, mayDelete) : nothing()}
${pager({ page, pageSize, total, href: (page) => link(pageRoutes.storedExports, { page }) })}`;
}

function failureNotice({ atMs, reason }: CopyFailure): Html {
  const content = html`${time(atMs)}: ${reason} The download itself was complete.`;
  return notice('warn', content, { title: 'The latest export was not stored' });
}

function fileTable(objects: readonly StoredObject[], mayDelete: boolean): Html {
  const columns: Column<StoredObject>[] = [
    {
      header: 'File',
      kind: 'main',
      cell: ({ key }) => {
        const name = nameOf(key) ?? '';
        return html`<a href="${exportPath('storedExport', name)}" download>${name}</a>`;
      },
    },
    { header: 'Format', kind: 'plain', cell: ({ key }) => (key.endsWith('.csv') ? 'CSV' : 'JSON') },
    { header: 'Size', kind: 'amount', cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
    { header: 'Stored', kind: 'plain', cell: ({ modifiedMs }) => time(modifiedMs) },
  ];
  if (mayDelete) columns.push({ header: 'Actions', kind: 'row-actions', cell: deleteLink });
  return table({ caption: 'Stored exports, newest first', columns, rows: objects });
}

function deleteLink({ key }: StoredObject): Html {
  const name = nameOf(key) ?? '';
  return html`<a href="${exportPath('deleteExport', name)}" aria-label="Delete ${name}" data-dialog>Delete</a>`;
}

function nothing(): Html {
  return empty({
    icon: 'inbox',
    title: 'No stored exports yet',
    text: 'When a download of posts is complete, a copy appears here. To export a part of the posts, filter the list of posts first.',
    actions: exportNow,
  });
}
