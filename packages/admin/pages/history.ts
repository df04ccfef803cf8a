import { badge, type Content, empty, type Html, html, table, time } from '@octavo/web/html';
import { type FieldChange, type HistoryEntry, historyOf, type ObjectKeys } from '../changes/history.ts';
import { adminPage, capitalized, type ModelVisit } from '../context.ts';
import { mayEditChildren } from '../forms/form.ts';
import { keepingList } from '../lists/list-link.ts';
import type { Model } from '../model.ts';
import { idOf, titleOf } from '../registry.ts';
import { getObject } from '../table/objects.ts';
import type { Loaded } from '../table/versions.ts';

const entriesMax = 200;

/** Renders the history of an object: time, author, and old and new values of fields. */
export async function historyPage(context: ModelVisit, id: string): Promise<string> {
  const { registry, model, actor } = context;
  const loaded = await getObject(registry, model, id, actor);
  const { values } = loaded;
  const entries = await historyOf(registry.database, historyKeys(context, loaded), entriesMax);
  const base = `/admin/${model.path}/${encodeURIComponent(id)}`;
  return adminPage(context.frame(), {
    title: `History of “${titleOf(model, values)}”`,
    parent: { href: keepingList(context, `${base}/change/`), label: capitalized(model.label) },
    main: entries.length === 0 ? nothing(model.label) : historyTable(model, entries),
  });
}

/** An object with the inline children that the user may view. Changes of these elsewhere are part of its history. */
export function historyKeys(
  { registry, model, user }: ModelVisit,
  { values, children }: Loaded,
): ObjectKeys[] {
  const inlines = registry
    .inlinesOf(model)
    .filter(({ inline }) => mayEditChildren(user, inline.model, 'view'));
  const own = { model: model.path, ids: [idOf(model, values)] };
  return [
    own,
    ...inlines.map(({ inline, model: child }) => ({
      model: inline.model,
      ids: (children[inline.model] ?? []).map((row) => idOf(child, row)),
    })),
  ];
}

function nothing(label: string): Html {
  const text = `Changes of this ${label} show here. It was probably added before the history began, or by a program.`;
  return empty({ icon: 'list', title: 'No changes yet', text });
}

function historyTable(model: Model, entries: readonly HistoryEntry[]): Html {
  const what = ({ action, title, ...entry }: HistoryEntry) =>
    entry.model === model.path ? actionBadge(action) : html`${actionBadge(action)} “${title}”`;
  return table({
    caption: 'Changes',
    columns: [
      { header: 'When', kind: 'fit', cell: ({ atMs }: HistoryEntry) => time(atMs) },
      { header: 'Who', kind: 'fit', cell: ({ userName }) => userName || '—' },
      { header: 'Where', kind: 'fit', cell: ({ via }) => (via ? places[via] : '—') },
      { header: 'What', kind: 'fit', cell: what },
      { header: 'Changes', cell: ({ fields }) => changesList(fields) },
    ],
    rows: entries,
  });
}

/** Places where changes are made, for readers. */
export const places = { admin: 'Admin', api: 'API', page: 'Page' } as const;

/** Renders an action as a badge. */
export function actionBadge(action: string): Html {
  if (action === 'add') return badge('good', 'Added');
  if (action === 'change') return badge('plain', 'Changed');
  return action === 'delete' ? badge('bad', 'Deleted') : badge('info', action);
}

/** Fields from what to what. */
export function changesList(fields: readonly FieldChange[]): Content {
  if (fields.length === 0) return undefined;
  return html`<ul class="changes">${fields.map(changeLine)}</ul>`;
}

function changeLine({ label, from, to, kind }: FieldChange): Html {
  const shown = (text = '') => (text === '' ? '—' : kind === 'time' ? time(text) : text);
  if (from === undefined) return html`<li>${label}: <ins>${shown(to)}</ins></li>`;
  return html`<li>${label}: <del>${shown(from)}</del> <span aria-hidden="true">→</span> <ins>${shown(to)}</ins></li>`;
}
