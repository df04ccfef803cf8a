import type { Session } from '@octavo/data';
import type { Value } from '../field.ts';
import type { AdminUser } from '../user.ts';

/** The tables of the admin. */
export interface AdminTables {
  admin_log: LogRow;
  admin_upload: {
    id: string;
    user_id: string;
    model: string;
    name: string;
    content: string;
    expires_at_ms: number;
  };
}

interface LogRow {
  id: number;
  at_ms: number;
  user_id: string | null;
  user_name: string;
  model: string;
  object_id: string;
  title: string;
  action: string;
  changes: string;
  via: string;
}

/** A field that changed: before and after, as texts for readers, shortened. */
export interface FieldChange {
  readonly label: string;
  /** `time` if the texts are instants, to be shown in the reader's time zone. */
  readonly kind?: 'time';
  readonly from?: string;
  readonly to?: string;
}

/** An entry of an object's history. */
export interface Change {
  readonly model: string;
  readonly id: string;
  readonly title: string;
  /** `add`, `change` or `delete`, or the label of a bulk action. */
  readonly action: string;
  readonly fields: readonly FieldChange[];
}

/** A change with who made it and when. */
export interface HistoryEntry extends Change {
  readonly via: Via | undefined;
  readonly atMs: number;
  readonly userId: string | undefined;
  readonly userName: string;
}

/** Place where a change is made. */
export type Via = 'admin' | 'api' | 'page';

/** Author, time and place of changes. */
export interface Author {
  readonly user: Pick<AdminUser, 'id' | 'name'> | undefined;
  readonly nowMs: number;
  readonly via: Via;
}

const titleCharactersMax = 200;
const valueCharactersMax = 1_000;

/** Writes changes to the history. A service calls it for changes that are made elsewhere than in the admin. */
export async function recordChanges(
  session: Session<AdminTables>,
  changes: readonly Change[],
  author: Author,
): Promise<void> {
  const rows = changes.map(({ model, id, title, action, fields }) => ({
    at_ms: author.nowMs,
    user_id: author.user?.id ?? null,
    user_name: author.user?.name ?? '',
    model,
    object_id: id,
    title: cut(title, titleCharactersMax),
    action,
    changes: JSON.stringify(fields),
    via: author.via,
  }));
  for (let index = 0; index < rows.length; index += batchRows)
    await session.kysely
      .insertInto('admin_log')
      .values(rows.slice(index, index + batchRows) as LogRow[])
      .execute();
}

const batchRows = 200;

/** A value as the history keeps it. */
export function recorded(text: string): string {
  return cut(text, valueCharactersMax);
}

/** Returns true if two values of a field are equal. */
export function isSame(a: Value | undefined, b: Value | undefined): boolean {
  return Array.isArray(a) || Array.isArray(b) ? JSON.stringify(a) === JSON.stringify(b) : a === b;
}

/** Objects of one model. */
export interface ObjectKeys {
  readonly model: string;
  readonly ids: readonly string[];
}

/** Changes of objects of one or more models, newest first. */
export async function historyOf(
  { kysely }: Session<AdminTables>,
  objects: readonly ObjectKeys[],
  limit: number,
): Promise<HistoryEntry[]> {
  const known = objects.filter(({ ids }) => ids.length > 0);
  if (known.length === 0) return [];
  const rows = await kysely
    .selectFrom('admin_log')
    .selectAll()
    .where((eb) =>
      eb.or(known.map(({ model, ids }) => eb.and([eb('model', '=', model), eb('object_id', 'in', ids)]))),
    )
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toEntry);
}

/** Returns the latest changes of objects of these models, newest first. */
export async function latestChanges(
  { kysely }: Session<AdminTables>,
  models: readonly string[],
  limit: number,
): Promise<HistoryEntry[]> {
  // One query for each model, because an index has the newest of one model but not of several.
  const latest = await Promise.all(
    models.map((model) =>
      kysely
        .selectFrom('admin_log')
        .selectAll()
        .where('model', '=', model)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    ),
  );
  const rows = latest.flat().sort((a, b) => b.id - a.id);
  return rows.slice(0, limit).map(toEntry);
}

/** Takes the name of a user who leaves from the history: of changes by them, and with all values from those of their account. */
export async function forgetInHistory(
  { kysely }: Session<AdminTables>,
  account: { readonly model: string; readonly id: string },
): Promise<void> {
  const { model, id } = account;
  await kysely
    .updateTable('admin_log')
    .set({ title: formerUser, changes: '[]' })
    .where('model', '=', model)
    .where('object_id', '=', id)
    .execute();
  // People of another kind have no changes of their own.
  if (model !== 'auth/user') return;
  await kysely.updateTable('admin_log').set({ user_name: formerUser }).where('user_id', '=', id).execute();
  await kysely.deleteFrom('admin_upload').where('user_id', '=', id).execute();
}

const formerUser = 'former user';

function toEntry(row: LogRow): HistoryEntry {
  return {
    atMs: row.at_ms,
    userId: row.user_id ?? undefined,
    userName: row.user_name,
    model: row.model,
    id: row.object_id,
    title: row.title,
    action: row.action,
    via: row.via === '' ? undefined : (row.via as Via),
    fields: JSON.parse(row.changes) as FieldChange[],
  };
}

function cut(text: string, charactersMax: number): string {
  const characters = text.length > charactersMax ? [...text] : [];
  return characters.length > charactersMax ? `${characters.slice(0, charactersMax - 1).join('')}…` : text;
}
