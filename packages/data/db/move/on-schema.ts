import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import pg from 'pg';
import { readMigrations } from '../migrations.ts';
import { processNames } from '../postgres/connections.ts';
import { ConnectionLost, fromPostgresError, startError } from '../postgres/errors.ts';
import { migrateSchema, searchPath } from '../postgres/open.ts';
import { checkPooler } from '../postgres/pooler.ts';
import { inTransaction } from '../postgres/transactions/session.ts';
import type { MoveOptions, MoveResult } from './move.ts';
import { PostgresSide } from './postgres-side.ts';

const lookAttempts = 20;
const lookEveryMs = 100;

/**
 * Runs `work` in one transaction on the schema, which is made or migrated first. Throws `conflict` while a service is connected to it.
 * `isCreated` is true if it was not there.
 */
export async function onSchema(
  { name: schema, url, migrations, log, replacesNul = false }: MoveOptions,
  work: (side: PostgresSide, isCreated: boolean) => Promise<MoveResult>,
): Promise<MoveResult> {
  const client = new pg.Client({ connectionString: url, application_name: 'octavo move', keepAlive: true });
  let lost: unknown;
  client.on('error', (error) => {
    lost ??= error;
  });
  try {
    await checkPooler(url, 'none', 'Name PostgreSQL itself.');
    await client.connect().catch((error: unknown) => {
      throw error instanceof pg.DatabaseError ? error : new ConnectionLost(error);
    });
    await refuseRunning(client, schema);
    return await inTransaction(client, 'BEGIN', async () => {
      const { rowCount } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
      await client.query(searchPath(schema));
      await migrateSchema(client, { schema, migrations: readMigrations(migrations, 'postgres'), log });
      // This process computes for long, too, while the server waits.
      await client.query(
        "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL maintenance_work_mem = '128MB'; SET LOCAL bytea_output = hex",
      );
      return await work(new PostgresSide(client, { schema, replacesNul }), rowCount === 0);
    });
  } catch (error) {
    throw problemOf(lost === undefined || error instanceof AppError ? error : new ConnectionLost(lost), {
      schema,
      url,
    });
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * A process keeps a connection for all of its services. Those of earlier versions bear the name of one. The server needs a moment to notice that
 * those of a stopped one are gone.
 */
async function refuseRunning(client: pg.Client, schema: string): Promise<void> {
  let places: string[] = [];
  for (let attempt = 1; attempt <= lookAttempts; attempt++) {
    if (attempt > 1) await delay(lookEveryMs);
    const { rows } = await client.query<{ place: string }>(
      `SELECT DISTINCT coalesce(host(client_addr), 'this machine') AS place FROM pg_stat_activity
       WHERE datname = current_database() AND (application_name LIKE $1 OR application_name = $2)`,
      [processNames, schema],
    );
    if (rows.length === 0) return;
    places = rows.map(({ place }) => place);
  }
  throw new AppError(
    'conflict',
    `Octavo runs, and is connected to PostgreSQL from ${places.join(', ')}: stop it first`,
  );
}

function problemOf(error: unknown, { schema, url }: { schema: string; url: string }): unknown {
  if (error instanceof pg.DatabaseError && error.where?.startsWith('COPY ')) {
    const place = error.where.replace(/^COPY /, '').split('\n')[0];
    return new AppError(
      'invalid_input',
      `PostgreSQL refuses a row of ${schema}: ${error.message} (table ${place}). Correct it in the source, and move again`,
      { cause: error },
    );
  }
  return startError(error, url) ?? fromPostgresError(error, new Map());
}
