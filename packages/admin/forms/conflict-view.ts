import { type Content, type Html, html, notice, table, time } from '@octavo/web/html';
import { type HistoryEntry, historyOf, isSame, type ObjectKeys } from '../changes/history.ts';
import type { ModelVisit } from '../context.ts';
import type { Field, Value, Values } from '../field.ts';
import { isoOf } from '../fields.ts';
import type { TableModel } from '../model.ts';
import { historyKeys } from '../pages/history.ts';
import { idOf } from '../registry.ts';
import { childField, hashOf, type Loaded } from '../table/versions.ts';
import {
  type ChildState,
  controlText,
  currentVersions,
  editableFields,
  editableSets,
  type FormContext,
  type FormState,
  initialState,
  mayEditChildren,
} from './form.ts';

/** A difference between the stored value and the value that this user typed. */
interface Difference {
  readonly label: string;
  readonly theirs: Content;
  readonly yours: Content;
  /** True if the form now holds their value, because this user had not touched the field. */
  readonly isTaken: boolean;
}

/**
 * The form after another user changed the object: fields that this user did not touch hold what is stored now, the
 * others hold what was typed, and a table shows both. Saving again keeps what the form shows.
 */
export async function conflictView(
  context: ModelVisit,
  form: FormContext,
  state: FormState,
): Promise<{ state: FormState; message: Html }> {
  const { registry, model, visit } = context;
  const current = form.loaded as Loaded;
  const differences: Difference[] = [];
  const texts: Record<string, string> = { ...state.texts };
  for (const [name, field] of editableFields(form)) {
    const theirs = current.values[name] ?? null;
    if (state.versions.get(name) === hashOf(theirs) || texts[name] === controlText(field, theirs)) continue;
    const isTaken = isUntouched(field, texts[name] ?? '', state.versions.get(name));
    differences.push({ label: field.label, ...shown(field, theirs, texts[name]), isTaken });
    if (isTaken) texts[name] = controlText(field, theirs);
  }
  const members = { ...state.members };
  for (const name of editableSets(form)) {
    const theirs = (current.values[name] ?? []) as readonly string[];
    const yours = members[name] ?? [];
    if (state.versions.get(name) === hashOf(theirs) || isSame(theirs, yours)) continue;
    const isTaken = state.versions.get(name) === hashOf(yours);
    const label = (model.kind === 'table' && model.sets?.[name]?.label) || name;
    differences.push({ label, theirs: theirs.join(', '), yours: yours.join(', '), isTaken });
    if (isTaken) members[name] = theirs;
  }
  const children = mergeChildren(form, state, { current, differences });
  const [latest] = await historyOf(registry.database, keysOf(context, current, state), 1);
  const loadedAtMs = Number(visit.field('_loaded_at')) || 0;
  return {
    state: { ...state, texts, members, children, errors: {}, versions: currentVersions(form) },
    message: message(differences, latest && latest.atMs >= loadedAtMs ? latest : undefined),
  };
}

/** Keys of the objects whose history tells who saved first: the object and its children, also deleted ones. */
function keysOf(context: ModelVisit, current: Loaded, { children }: FormState): ObjectKeys[] {
  return historyKeys(context, current).map(({ model, ids }) => {
    const sent = (children[model] ?? []).flatMap(({ id }) => id ?? []);
    return { model, ids: [...new Set([...ids, ...sent])] };
  });
}

/** The stored and the typed value as readers see them, with times in their time zone. */
function shown(field: Field, stored: Value, typed = ''): { theirs: Content; yours: Content } {
  const iso = field.control.type === 'datetime' ? isoOf(typed) : undefined;
  const isTime = field.control.type === 'datetime' && stored !== null;
  return { theirs: isTime ? field.show?.(stored) : field.format(stored), yours: iso ? time(iso) : typed };
}

/** Returns true if a text is the value that the form was loaded with. */
function isUntouched(field: Field, typed: string, version: string | undefined): boolean {
  const parsed = field.parse(typed);
  return 'value' in parsed && hashOf(parsed.value) === version;
}

/** The rows of the form after a conflict: those of others are added, and rows that others deleted are new ones. */
function mergeChildren(
  form: FormContext,
  state: FormState,
  merge: { current: Loaded; differences: Difference[] },
): Record<string, readonly ChildState[]> {
  const { registry, model } = form;
  const fresh = initialState(form, new URLSearchParams()).children;
  const merged: Record<string, readonly ChildState[]> = {};
  for (const { inline, model: child, fields } of registry.inlinesOf(model)) {
    const rows = new Map((merge.current.children[inline.model] ?? []).map((row) => [idOf(child, row), row]));
    const typed = state.children[inline.model] ?? [];
    const mayAdd = mayEditChildren(form.user, inline.model, 'add');
    const kept = typed.flatMap(
      (row) => mergeRow(row, { child, fields, rows, mayAdd, state, differences: merge.differences }) ?? [],
    );
    const added = (fresh[inline.model] ?? []).filter(
      ({ id }) => id !== undefined && !typed.some((row) => row.id === id),
    );
    for (const row of added) {
      const theirs = summary(child, fields, rows.get(row.id as string) as Values);
      merge.differences.push({ label: `New ${child.label}`, theirs, yours: '', isTaken: true });
    }
    merged[inline.model] = renumber(child, [...kept, ...added]);
  }
  return merged;
}

function mergeRow(
  row: ChildState,
  {
    child,
    fields,
    rows,
    mayAdd,
    state,
    differences,
  }: {
    child: TableModel;
    fields: readonly string[];
    rows: ReadonlyMap<string, Values>;
    mayAdd: boolean;
    state: FormState;
    differences: Difference[];
  },
): ChildState | undefined {
  if (row.id === undefined) return row;
  const theirs = rows.get(row.id);
  if (!theirs) {
    const yours = fields.map((name) => row.texts[name]).join(' · ');
    differences.push({ label: `Deleted ${child.label}`, theirs: '', yours, isTaken: !mayAdd });
    return mayAdd ? { ...row, id: undefined } : undefined;
  }
  const texts = { ...row.texts };
  for (const name of fields) {
    const field = child.fields[name] as Field;
    const value = theirs[name] ?? null;
    const version = state.versions.get(childField(child.path, row.id, name));
    if (row.isDeleted && version !== undefined && version !== hashOf(value)) {
      const label = `${child.label}: ${field.label}`;
      differences.push({ label, ...shown(field, value), yours: 'to delete it', isTaken: false });
      continue;
    }
    if (version === hashOf(value) || texts[name] === controlText(field, value)) continue;
    const isTaken = isUntouched(field, texts[name] ?? '', version);
    differences.push({
      label: `${child.label}: ${field.label}`,
      ...shown(field, value, texts[name]),
      isTaken,
    });
    if (isTaken) texts[name] = controlText(field, value);
  }
  return { ...row, texts };
}

function summary(child: TableModel, fields: readonly string[], values: Values): string {
  return fields.map((name) => child.fields[name]?.format((values[name] ?? null) as Value) ?? '').join(' · ');
}

function renumber(child: TableModel, rows: readonly ChildState[]): ChildState[] {
  const name = child.path.split('/')[1];
  return rows.map((row, index) => ({ ...row, prefix: `${name}-${index}-` }));
}

function message(differences: readonly Difference[], latest: HistoryEntry | undefined): Html {
  const who: Content = latest
    ? html`<b>${latest.userName || 'Another user'}</b> changed this ${time(latest.atMs)}${latest.via && ways[latest.via]}, while you were editing.`
    : 'This was changed outside the admin while you were editing.';
  const rows = table({
    caption: 'Changes since you opened this page',
    columns: [
      { header: 'Field', cell: ({ label }: Difference) => label },
      { header: 'Now stored', cell: ({ theirs }) => theirs || '—' },
      { header: 'You sent', cell: ({ yours }) => yours || '—' },
      { header: 'The form below has', cell: ({ isTaken }) => (isTaken ? 'what is stored' : 'what you sent') },
    ],
    rows: differences,
  });
  return html`${notice('warn', html`<p>${who} Nothing of yours has been saved yet. Check the form below and save it again.</p>`, { title: 'Someone else changed this' })}
<section class="card">${rows}</section>`;
}

const ways = { admin: '', api: ' through the API', page: ' on a page' } as const;
