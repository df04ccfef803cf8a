import { type Session, statement } from '../db/index.ts';
import type { Value } from './field.ts';
import type { AdminUser } from './user.ts';

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
}

/** A field that changed: before and after, as texts for readers, shortened. */
export interface FieldChange {
  readonly label: string;
  readonly from?: string;
  readonly to?: string;
}

/** What was done to an object. */
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
  readonly atMs: number;
  readonly userId: string | undefined;
  readonly userName: string;
}

const titleCharactersMax = 200;
const valueCharactersMax = 1_000;

/** Writes changes to the history. A service calls it for changes that are made elsewhere than in the admin. */
export async function recordChanges(
  session: Session<AdminTables>,
  changes: readonly Change[],
  who: { readonly user: Pick<AdminUser, 'id' | 'name'> | undefined; readonly nowMs: number },
): Promise<void> {
  const rows = changes.map(({ model, id, title, action, fields }) => ({
    at_ms: who.nowMs,
    user_id: who.user?.id ?? null,
    user_name: who.user?.name ?? '',
    model,
    object_id: id,
    title: cut(title, titleCharactersMax),
    action,
    changes: JSON.stringify(fields),
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

/** Whether two values of a field are the same. */
export function isSame(a: Value | undefined, b: Value | undefined): boolean {
  return Array.isArray(a) || Array.isArray(b) ? JSON.stringify(a) === JSON.stringify(b) : a === b;
}

const ofObject = statement<AdminTables, { model: string; id: string; limit: number; offset: number }>()(
  (db, p) =>
    db
      .selectFrom('admin_log')
      .selectAll()
      .where('model', '=', p('model'))
      .where('object_id', '=', p('id'))
      .orderBy('id', 'desc')
      .limit(p('limit'))
      .offset(p('offset')),
);

/** What was done to an object, newest first. */
export async function historyOf(
  session: Session<AdminTables>,
  object: { model: string; id: string; limit: number; offset: number },
): Promise<HistoryEntry[]> {
  return (await ofObject.all(session, object)).map(toEntry);
}

const ofUser = statement<AdminTables, { userId: string; limit: number }>()((db, p) =>
  db
    .selectFrom('admin_log')
    .selectAll()
    .where('user_id', '=', p('userId'))
    .orderBy('id', 'desc')
    .limit(p('limit')),
);

/** What a user did last, newest first. */
export async function historyOfUser(
  session: Session<AdminTables>,
  userId: string,
  limit: number,
): Promise<HistoryEntry[]> {
  return (await ofUser.all(session, { userId, limit })).map(toEntry);
}

function toEntry(row: LogRow): HistoryEntry {
  return {
    atMs: row.at_ms,
    userId: row.user_id ?? undefined,
    userName: row.user_name,
    model: row.model,
    id: row.object_id,
    title: row.title,
    action: row.action,
    fields: JSON.parse(row.changes) as FieldChange[],
  };
}

function cut(text: string, charactersMax: number): string {
  const characters = text.length > charactersMax ? [...text] : [];
  return characters.length > charactersMax ? `${characters.slice(0, charactersMax - 1).join('')}…` : text;
}
