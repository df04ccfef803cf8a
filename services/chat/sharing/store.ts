import { createHash, hkdfSync } from 'node:crypto';
import { AppError, newSecret, notFound } from '@octavo/core';
import type { Database, Session, WriteSession } from '@octavo/data';
import { everyoneKey, hasLibrary, type LibraryRules, librariesOf } from '../library.ts';
import type { Owner } from '../owner.ts';
import {
  type Session as ChatSession,
  findSession,
  messagesOf,
  type Reach,
  touchSession,
} from '../sessions/index.ts';
import type { Tables } from '../tables.ts';
import { type Snapshot, shareableTurns, sharedMs } from './share.ts';

type Store = Session<Tables>;
type Write = WriteSession<Tables>;

/** Material of the links. */
export interface ShareParts {
  readonly database: Database<Tables>;
  readonly library: LibraryRules;
  /** Makes the tokens, so that a copy of the database has none. */
  readonly secret: string;
}

/** A link as its owner sees it. */
export interface Share {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Shares a chat as it is now for 30 days, or returns the link that there is. Throws `not_found` for a session of another owner. */
export function shareSession(
  parts: ShareParts,
  reach: Reach,
  id: string,
): Promise<{ share: Share; isNew: boolean }> {
  return parts.database.write(async (write) => {
    // Locks it, so that it is not cleared in between, and counts as a use: the session stays at least as long as the link.
    const isThere = await touchSession(write, reach, id);
    const session = isThere && (await findSession(write, reach, id));
    if (!session) throw notFound('session', id);
    const known = await shareOf(write, parts, id, reach.nowMs);
    if (known) return { share: known, isNew: false };
    return { share: await insertShare(write, parts, session, reach.nowMs), isNew: true };
  });
}

async function insertShare(
  write: Write,
  { library, secret }: ShareParts,
  { id, title, owner }: ChatSession,
  nowMs: number,
): Promise<Share> {
  const turns = shareableTurns(await messagesOf(write, id));
  const quoted = await quotedDocuments(
    write,
    turns.flatMap(({ documents }) => [...documents]),
  );
  const libraries = librariesFor(library, owner, id);
  const readable = new Map(
    quoted.filter(({ key }) => libraries.includes(key)).map((each) => [each.document, each.library]),
  );
  const kept = turns.filter(({ documents }) => [...documents].every((each) => readable.has(each)));
  if (kept.length === 0) throw new AppError('validation_failed', 'This chat has no answer to share yet.');
  const snapshot: Snapshot = { title, turns: kept.map(({ turn }) => turn) };
  const seed = newSecret();
  const token = tokenOf(secret, seed);
  const expiresAtMs = nowMs + sharedMs;
  await endShare(write, id);
  await write.kysely
    .insertInto('share')
    .values({
      session: id,
      seed,
      token_hash: hashOf(token),
      snapshot: JSON.stringify(snapshot),
      expires_at_ms: expiresAtMs,
    })
    .execute();
  const documents = new Set(kept.flatMap(({ documents: own }) => [...own]));
  const rows = [...documents].map((document) => ({
    session: id,
    document,
    library: readable.get(document) as number,
  }));
  if (rows.length > 0) await write.kysely.insertInto('share_document').values(rows).execute();
  return { token, expiresAtMs };
}

/** The link of a session; undefined if it is not shared. */
export function findShare(parts: ShareParts, session: string, nowMs: number): Promise<Share | undefined> {
  return shareOf(parts.database, parts, session, nowMs);
}

/** Undefined also for a link that another secret made, which cannot be named anymore. */
async function shareOf(
  store: Store,
  { library, secret }: ShareParts,
  session: string,
  nowMs: number,
): Promise<Share | undefined> {
  const known = await liveShare(store, library, ['session', session], nowMs);
  const token = known && tokenOf(secret, known.seed);
  if (!token || hashOf(token) !== known.token_hash) return undefined;
  return { token, expiresAtMs: known.expires_at_ms };
}

/** A shared chat as a stranger with the token sees it; undefined if the link has ended. */
export async function readShared(
  { database, library }: ShareParts,
  token: string,
  nowMs: number,
): Promise<{ snapshot: Snapshot; expiresAtMs: number } | undefined> {
  const known = await liveShare(database, library, ['token_hash', hashOf(token)], nowMs);
  return known && { snapshot: JSON.parse(known.snapshot), expiresAtMs: known.expires_at_ms };
}

/** Ends the link of a session. False if the owner has no such link. */
export function unshareSession({ database }: ShareParts, reach: Reach, id: string): Promise<boolean> {
  return database.write(async (write) => {
    if (!(await findSession(write, reach, id))) return false;
    return (await endShare(write, id)) > 0;
  });
}

/** Ends the links that quote a document, which fewer people may read from now on. */
export async function endSharesQuoting({ kysely }: Write, document: string): Promise<void> {
  await kysely
    .deleteFrom('share')
    .where('session', 'in', (from) =>
      from.selectFrom('share_document').select('session').where('document', '=', document),
    )
    .execute();
}

/** Ends the links of an owner. */
export async function endSharesOf({ kysely }: Write, owner: Owner): Promise<void> {
  await kysely
    .deleteFrom('share')
    .where('session', 'in', (from) => from.selectFrom('session').select('id').where('owner', '=', owner))
    .execute();
}

/** Removes links that have ended. */
export async function deleteEndedShares(database: Database<Tables>, nowMs: number): Promise<void> {
  await database.write(({ kysely }) =>
    kysely
      .deleteFrom('share')
      .where(({ eb, or, exists, not, selectFrom }) =>
        or([
          eb('expires_at_ms', '<=', nowMs),
          exists(
            selectFrom('share_document')
              .select('share_document.session')
              .whereRef('share_document.session', '=', 'share.session')
              .where(({ exists: isThere, selectFrom: from }) =>
                not(
                  isThere(
                    from('document')
                      .select('document.id')
                      .whereRef('document.public_id', '=', 'share_document.document')
                      .where('document.status', '!=', 'deleting'),
                  ),
                ),
              ),
          ),
        ]),
      )
      .execute(),
  );
}

/**
 * A link that has not ended. Its session must be there, and its owner must be able to read each document that it quotes, which fewer people
 * must not read than when it was shared.
 */
async function liveShare(
  store: Store,
  rules: LibraryRules,
  [column, value]: readonly ['session' | 'token_hash', string],
  nowMs: number,
) {
  const row = await store.kysely
    .selectFrom('share')
    .innerJoin('session', 'session.id', 'share.session')
    .selectAll('share')
    .select('session.owner')
    .where(`share.${column}`, '=', value)
    .where('share.expires_at_ms', '>', nowMs)
    .executeTakeFirst();
  if (!row || !(await findSession(store, { owner: row.owner, nowMs }, row.session))) return undefined;
  const shared = await store.kysely
    .selectFrom('share_document')
    .select(['document', 'library'])
    .where('session', '=', row.session)
    .execute();
  const quoted = await quotedDocuments(
    store,
    shared.map(({ document }) => document),
  );
  const libraries = librariesFor(rules, row.owner, row.session);
  const isLive = shared.every(({ document, library }) => {
    const now = quoted.find((each) => each.document === document);
    return now && libraries.includes(now.key) && (now.library === library || now.key === everyoneKey);
  });
  return isLive ? row : undefined;
}

/** The documents that are there, with the library of each. */
async function quotedDocuments(store: Store, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return store.kysely
    .selectFrom('document')
    .innerJoin('library', 'library.id', 'document.library')
    .select(['document.public_id as document', 'document.library', 'library.key'])
    .where('document.public_id', 'in', [...new Set(ids)])
    .where('document.status', '!=', 'deleting')
    .execute();
}

function librariesFor(rules: LibraryRules, owner: string, session: string): string[] {
  return hasLibrary(rules, owner) ? librariesOf(rules, owner, session) : [];
}

async function endShare({ kysely }: Write, session: string): Promise<number> {
  const { numDeletedRows } = await kysely
    .deleteFrom('share')
    .where('session', '=', session)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** A token of 256 bits. */
function tokenOf(secret: string, seed: string): string {
  return Buffer.from(hkdfSync('sha256', secret, seed, 'chat share', 32)).toString('base64url');
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
