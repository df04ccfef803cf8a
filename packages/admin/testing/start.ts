import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import { FakeClock, readConfig } from '@octavo/core';
import { createLog, silentLog } from '@octavo/core/log';
import { type Database, openDatabase } from '@octavo/data';
import { type Accounts, accountMigrations, accountSettings, openAccounts } from '@octavo/people/accounts';
import { PageClient, testContext, testFolder } from '@octavo/testing';
import { loadAssets, servePages } from '@octavo/web/pages';
import { createHttpServer, trustProxySetting } from '@octavo/web/server';
import {
  type AccountSession,
  accountModels,
  adminMigrations,
  createAdmin,
  staffAccounts,
  type Values,
} from '../index.ts';
import { libraryModels, noticeModel, type Tables } from './library.ts';

export const password = 'correct horse battery';

/** A library with an admin, for tests. */
export interface Library {
  readonly url: string;
  readonly database: Database<Tables>;
  readonly accounts: Accounts;
  readonly clock: FakeClock;
  readonly notices: Map<string, Values>;
  /** A visitor who is signed in; `permissions` such as `library/book:view` make ordinary staff, without them an administrator. */
  signedIn(name: string, permissions?: readonly string[]): Promise<PageClient>;
}

/** Starts a library on SQLite, or on PostgreSQL with a URL. It is stopped after the tests of the file. */
export async function startLibrary(url?: string): Promise<Library> {
  const stack = new AsyncDisposableStack();
  after(() => stack.disposeAsync());
  const clock = new FakeClock(Date.UTC(2026, 5, 15, 12));
  const log = process.env.LOG_LEVEL ? createLog({ service: 'library', level: 'warn' }) : silentLog;
  const place = { name: `l_${randomBytes(6).toString('hex')}`, url, folder: testFolder('library'), log };
  const migrations = [accountMigrations, adminMigrations, new URL('./migrations/', import.meta.url)];
  const database = stack.use(await openDatabase<Tables>({ ...place, migrations }));
  const config = readConfig(accountSettings, { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' });
  const accounts = await openAccounts({
    database,
    config,
    clock,
    log,
    words: ['library'],
    peopleRealm: null,
    stack,
  });
  const notices = new Map<string, Values>();
  const models = [...libraryModels, noticeModel(notices)];
  const admin = createAdmin<AccountSession>({
    title: 'Library admin',
    tables: { loan: 'loan', award: 'award' },
    models: [...models, ...accountModels(accounts, models)],
    accounts: staffAccounts(accounts),
    clock,
    database,
  });
  const context = testContext('library', { log, clock, dataFolder: place.folder });
  const server = stack.use(
    await createHttpServer({
      name: 'library',
      title: 'Library',
      description: 'Books.',
      context,
      trustedProxy: trustProxySetting.parse('127.0.0.1'),
    }),
  );
  const secret = await accounts.secret('cookies');
  const errorPage = async (...given: Parameters<typeof admin.errorPage>) =>
    (await admin.errorPage(...given)) ?? `error ${given[1].status}`;
  servePages<AccountSession>(
    server.app,
    { name: 'library', secret, sessionSeconds: 14 * 86_400, clock, assets: loadAssets(), errorPage },
    (routes) => admin.addRoutes(routes),
  );
  const address = await server.listen();
  return {
    url: address,
    database,
    accounts,
    clock,
    notices,
    async signedIn(name, permissions) {
      const isSuperuser = permissions === undefined;
      const user = await accounts.create({ username: name, password, isStaff: true, isSuperuser });
      if (permissions) await grant(database, user.id, permissions);
      const client = new PageClient(address);
      await client.open('/admin/login/');
      await client.send('/admin/login/', { username: name, password });
      return client;
    },
  };
}

/** Books, as tests fill the library. */
export async function addBooks(
  database: Database<Tables>,
  books: readonly (Partial<Tables['book']> & { title: string })[],
): Promise<number[]> {
  const rows = books.map((book, index) => ({
    author_id: null,
    genre: 'novel',
    is_lent: 0,
    pages: 100,
    published_at_ms: Date.UTC(2026, 0, 1 + index),
    added: '2026-01-01T00:00:00.123456Z',
    ...book,
  }));
  const added = await database.kysely
    .insertInto('book')
    .values(rows as Tables['book'][])
    .returning('id')
    .execute();
  return added.map(({ id }) => id);
}

async function grant(
  database: Database<Tables>,
  userId: number,
  permissions: readonly string[],
): Promise<void> {
  const { id } = await database.kysely
    .insertInto('auth_group')
    .values({ name: `group of ${userId}` } as Tables['auth_group'])
    .returning('id')
    .executeTakeFirstOrThrow();
  await database.kysely.insertInto('auth_membership').values({ user_id: userId, group_id: id }).execute();
  const rows = permissions.map((permission) => {
    const [model = '', action = ''] = permission.split(':');
    return { group_id: id, model, action };
  });
  if (rows.length > 0) await database.kysely.insertInto('auth_group_permission').values(rows).execute();
}
