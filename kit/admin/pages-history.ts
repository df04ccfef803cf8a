import { AppError } from '../errors.ts';
import { badge, empty } from '../html/blocks.ts';
import { time } from '../html/format.ts';
import { type Content, type Html, html } from '../html/html.ts';
import { table } from '../html/table.ts';
import { adminPage, capitalized, type ModelVisit } from './context.ts';
import { type FieldChange, type HistoryEntry, historyOf } from './history.ts';
import { getObject } from './objects.ts';
import { titleOf } from './site.ts';

const entriesMax = 200;

/** What was done to an object: when, by whom, and which fields from what to what. */
export async function historyPage(context: ModelVisit, id: string): Promise<string> {
  const { site, model, actor } = context;
  if (!site.hasDatabase) throw new AppError('not_found', 'No history is kept here.');
  const { values } = await getObject(site, model, id, actor);
  const entries = await historyOf(site.database, { model: model.path, id, limit: entriesMax, offset: 0 });
  const base = `/admin/${model.path}/${encodeURIComponent(id)}`;
  return adminPage(context.frame(), {
    title: `History of “${titleOf(model, values)}”`,
    parent: { href: `${base}/change/`, label: capitalized(model.label) },
    main: entries.length === 0 ? nothing(model.label) : historyTable(entries),
  });
}

function nothing(label: string): Html {
  const text = `Changes that are made in the admin show here. This ${label} was probably added elsewhere.`;
  return empty({ icon: 'list', title: 'No changes yet', text });
}

function historyTable(entries: readonly HistoryEntry[]): Html {
  return table({
    caption: 'Changes',
    columns: [
      { header: 'When', kind: 'fit', cell: ({ atMs }: HistoryEntry) => time(atMs) },
      { header: 'Who', kind: 'fit', cell: ({ userName }) => userName || 'Not in the admin' },
      { header: 'What', kind: 'fit', cell: ({ action }) => actionBadge(action) },
      { header: 'Changes', cell: ({ fields }) => changesList(fields) },
    ],
    rows: entries,
  });
}

/** What was done, as a badge. */
export function actionBadge(action: string): Html {
  if (action === 'add') return badge('good', 'Added');
  if (action === 'change') return badge('plain', 'Changed');
  return action === 'delete' ? badge('bad', 'Deleted') : badge('info', action);
}

function changesList(fields: readonly FieldChange[]): Content {
  if (fields.length === 0) return undefined;
  return html`<ul class="changes">${fields.map(changeLine)}</ul>`;
}

function changeLine({ label, from, to }: FieldChange): Html {
  if (from === undefined) return html`<li>${label}: <ins>${to || '—'}</ins></li>`;
  return html`<li>${label}: <del>${from || '—'}</del> <span aria-hidden="true">→</span> <ins>${to || '—'}</ins></li>`;
}
