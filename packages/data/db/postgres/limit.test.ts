import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { sql } from 'kysely';
import pg from 'pg';
import { Place } from '../contract/fixture.ts';

const { url, skip } = await testDatabaseUrl();
const role = `limited_${randomBytes(6).toString('hex')}`;

test('at the limit of connections work waits for those that there are, and a start says so', {
  skip,
}, async (context) => {
  const limited = new URL(url as string);
  [limited.username, limited.password] = [role, role];
  await onServer(`CREATE ROLE ${role} LOGIN PASSWORD '${role}' CONNECTION LIMIT 3;
    GRANT CREATE ON DATABASE ${limited.pathname.slice(1)} TO ${role}`);
  context.after(() => onServer(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
  await using place = new Place(limited.href);
  const database = await place.open();
  // Another process has one of the three.
  const other = new pg.Client({ connectionString: limited.href });
  await other.connect();
  const slow = sql`select pg_sleep(0.02)`;
  await Promise.all(Array.from({ length: 40 }, () => slow.execute(database.kysely)));
  await other.end();
  await onServer(`ALTER ROLE ${role} CONNECTION LIMIT 0`);
  await assert.rejects(new Place(limited.href).open(), {
    name: 'AppError',
    code: 'unavailable',
    message: `PostgreSQL at ${limited.host} refuses it: too many connections for role "${role}".`,
  });
});

async function onServer(script: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(script);
  await client.end();
}
