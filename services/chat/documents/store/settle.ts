import type { Log } from '@octavo/core';
import type { Database, Session, WriteSession } from '@octavo/data';
import { sql } from 'kysely';
import { everyoneKey, type LibraryRules, ownerKey, publicKey } from '../../library.ts';
import { isStranger } from '../../owner.ts';
import type { Tables } from '../../tables.ts';
import { knownLibraries, libraryIdIn } from './libraries.ts';

type Write = WriteSession<Tables>;

/** The key of the library of all documents that everybody could read before documents had a visibility. */
const unsettledKey = 'unsettled';
const settledKey = 'settled';

/**
 * Decides once, after an upgrade, whose the documents are that everybody could read. With `CHAT_LIBRARY=shared` they are everyone's. Else
 * those of people, keys and tokens become private, and all others are for people who are not signed in, or everyone's without a sign-in. What
 * moves is read again in the background, because the words of a library are indexed with its number.
 */
export async function settleDocuments(
  database: Database<Tables>,
  rules: LibraryRules,
  log: Log,
): Promise<void> {
  const known = await unsettled(database);
  if (known === undefined) return;
  const isEveryones = rules.mode === 'shared';
  const settled = await database.write(async (session) => {
    await session.lock('settling documents');
    const library = await unsettled(session);
    if (library === undefined) return undefined;
    await markFormerlyShared(session, library, 1);
    const moved = isEveryones
      ? 0
      : await moveEach(session, library, (owner) => !isStranger(owner) && ownerKey(owner));
    const key = isEveryones || !rules.hasSignIn ? everyoneKey : publicKey;
    const isTaken = (await knownLibraries(session, [key])).length > 0;
    const flag = key === publicKey ? 1 : 0;
    const wanted = isTaken ? settledKey : key;
    // A replica of the version before has made the library again.
    const others = isTaken ? await moveEach(session, library, () => key, flag) : 0;
    await session.kysely.updateTable('library').set({ key: wanted }).where('id', '=', library).execute();
    return { key, moved, kept: others + (await markFormerlyShared(session, library, flag)) };
  });
  if (settled && settled.moved + settled.kept > 0)
    log.warn(
      { event: 'documents_settled', private: settled.moved, [settled.key]: settled.kept },
      'documents that everybody could read have a visibility now',
    );
}

async function unsettled({ kysely }: Session<Tables>): Promise<number | undefined> {
  const found = kysely.selectFrom('library').select('id').where('key', '=', unsettledKey);
  return (await found.executeTakeFirst())?.id;
}

async function markFormerlyShared({ kysely }: Write, library: number, was_shared: 0 | 1): Promise<number> {
  const marked = kysely.updateTable('document').set({ was_shared }).where('library', '=', library);
  const { numUpdatedRows } = await marked.where('status', '!=', 'deleting').executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Moves the documents of each owner into the library with that key, if there is one for them, and returns how many. */
async function moveEach(
  session: Write,
  library: number,
  keyFor: (owner: string) => string | false,
  wasShared: 0 | 1 = 1,
): Promise<number> {
  const owners = await session.kysely
    .selectFrom('document')
    .select('owner')
    .distinct()
    .where('library', '=', library)
    .execute();
  let moved = 0;
  for (const { owner } of owners) {
    const key = keyFor(owner);
    if (key === false) continue;
    const target = await libraryIdIn(session, key);
    moved += await moveDocuments(session, { from: library, owner, target, wasShared });
  }
  return moved;
}

interface Move {
  readonly from: number;
  readonly owner: string;
  readonly target: number;
  readonly wasShared: 0 | 1;
}

/** Takes what was shared out of one library at once, and lets another find it when it has been read again. */
async function moveDocuments({ kysely }: Write, { from, owner, target, wasShared }: Move): Promise<number> {
  const theirs = kysely
    .updateTable('document')
    .where('library', '=', from)
    .where('owner', '=', owner)
    .where('was_shared', '=', 1)
    .where('status', '!=', 'deleting');
  await theirs
    .set({ status: 'deleting', lease_until_ms: 0 })
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('document as other')
          .select('other.id')
          .where('other.library', '=', target)
          .where('other.owner', '=', owner)
          .whereRef('other.sha256', '=', 'document.sha256')
          .where('other.status', 'in', ['processing', 'indexed']),
      ),
    )
    .execute();
  const status = sql<'processing' | 'failed'>`CASE status WHEN 'failed' THEN 'failed' ELSE 'processing' END`;
  const { numUpdatedRows } = await theirs
    .set({ library: target, status, lease_until_ms: 0, was_shared: wasShared })
    .set({ embedding_model: 0, replaces: 0 })
    .executeTakeFirst();
  const raised = { version: sql<number>`version + 1` };
  await kysely.updateTable('library').set(raised).where('id', 'in', [from, target]).execute();
  return Number(numUpdatedRows);
}

/** Number of documents that everybody could read before, and whose visibility was not decided since. */
export async function countFormerlyShared({ kysely }: Session<Tables>): Promise<number> {
  const { total } = await kysely
    .selectFrom('document')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where('was_shared', '=', 1)
    .where('status', '!=', 'deleting')
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** Makes the documents everyone's that everybody could read before. They are read again in the background. */
export function shareFormerlyShared(database: Database<Tables>): Promise<void> {
  return database.write(async (session) => {
    const target = await libraryIdIn(session, everyoneKey);
    const places = await session.kysely
      .selectFrom('document')
      .select(['library', 'owner'])
      .distinct()
      .where('was_shared', '=', 1)
      .where('status', '!=', 'deleting')
      .execute();
    for (const { library, owner } of places)
      await moveDocuments(session, { from: library, owner, target, wasShared: 0 });
  });
}

/** Leaves them as they are, and no longer tells of them. */
export async function keepFormerlyShared(database: Database<Tables>): Promise<void> {
  await database.write(({ kysely }) =>
    kysely.updateTable('document').set({ was_shared: 0 }).where('was_shared', '=', 1).execute(),
  );
}
