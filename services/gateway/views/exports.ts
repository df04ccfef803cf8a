import { empty, linkButton, notice } from '#kit/html/blocks.ts';
import { count, formatBytes, time } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { pager } from '#kit/html/pager.ts';
import { table } from '#kit/html/table.ts';
import type { StoredObject } from '#kit/objects/index.ts';
import { pageRoutes, storedExportPath } from '../page-routes.ts';
import { link } from '../routes.ts';
import type { CopyFailure } from '../store.ts';
import { nameOf } from '../stored-export.ts';

export const exportsPageSize = 50;

export type StoredExportsView =
  | { readonly state: 'off' }
  | { readonly state: 'down'; readonly reason: string }
  | {
      readonly state: 'listed';
      /** Those of one page of the list. */
      readonly objects: readonly StoredObject[];
      readonly page: number;
      readonly total: number;
      readonly failure: CopyFailure | undefined;
    };

export function storedExportsPage(frame: Frame, view: StoredExportsView, requestId: string): string {
  const total = view.state === 'listed' ? view.total : 0;
  return layout(frame, {
    title: 'Exports',
    ...(total > 0 && { lead: count(total, 'stored file') }),
    main: mainOf(view, requestId),
  });
}

function mainOf(view: StoredExportsView, requestId: string): Html {
  if (view.state === 'off') {
    return empty({
      icon: 'inbox',
      title: 'Exports are not stored here',
      text: 'The object store is switched off (OBJECT_STORE). You can still export posts; nothing keeps a copy.',
      actions: linkButton(pageRoutes.posts, 'Go to posts'),
    });
  }
  if (view.state === 'down') {
    return html`${notice('bad', html`${view.reason} Exporting posts works all the same, but without a copy here.`, { title: 'The stored files cannot be shown' })}
<p class="actions">${linkButton(pageRoutes.storedExports, 'Try again')}</p><p class="small muted">Request <code>${requestId}</code></p>`;
  }
  const { objects, page, total, failure } = view;
  return html`${failure && failureNotice(failure)}${total > 0 ? fileTable(objects) : nothing()}
${pager({ page, pageSize: exportsPageSize, total, href: (page) => link(pageRoutes.storedExports, { page }) })}`;
}

function failureNotice({ atMs, reason }: CopyFailure): Html {
  const content = html`${time(atMs)}: ${reason} Whoever asked for it got the whole file.`;
  return notice('warn', content, { title: 'The latest export was not stored' });
}

function fileTable(objects: readonly StoredObject[]): Html {
  return table({
    caption: 'Stored exports, newest first',
    columns: [
      {
        header: 'File',
        kind: 'main',
        cell: ({ key }) => html`<a href="${storedExportPath(nameOf(key) ?? '')}" download>${nameOf(key)}</a>`,
      },
      { header: 'Kind', kind: 'fit', cell: ({ key }) => (key.endsWith('.csv') ? 'CSV' : 'JSON') },
      { header: 'Size', kind: 'number', cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
      { header: 'Stored', kind: 'fit', cell: ({ modifiedMs }) => time(modifiedMs) },
    ],
    rows: objects,
  });
}

function nothing(): Html {
  return empty({
    icon: 'inbox',
    title: 'No stored exports yet',
    text: 'Each export of posts leaves a copy here once its download is complete. Choose Export above the list of posts.',
    actions: linkButton(pageRoutes.posts, 'Go to posts'),
  });
}
