import { AppError } from '@octavo/core';
import pg from 'pg';
import { ConnectionLost } from './errors.ts';

const answerMs = 5_000;
/** Turns of two connections, in no regular order, so that servers which take turns do not look like one for each. */
const asked = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1];

/**
 * Throws `precondition_failed` if the address leads to a pooler that gives each transaction another connection to PostgreSQL: settings of a
 * connection, and statements prepared on it, would be those of its previous client.
 */
export async function refuseTransactionPooler(url: string): Promise<void> {
  if (!(await isTransactionPooler(url))) return;
  const place = new URL(url).host || 'its socket';
  throw new AppError(
    'precondition_failed',
    `${place} is a pooler in transaction mode, which would mix the tables of services. Set its pool mode to session, or name PostgreSQL itself in DATABASE_URL.`,
    { reason: 'CONFIG' },
  );
}

/**
 * PostgreSQL tells each client which process answers it, and a pooler makes one up. A connection through a pooler in session mode is answered
 * by one process all the time, which serves no other connection.
 */
async function isTransactionPooler(url: string): Promise<boolean> {
  const clients: pg.Client[] = [];
  try {
    const one = await connect(url, clients);
    if ((await processOf(one)) === Reflect.get(one, 'processID')) return false;
    const both = [one, await connect(url, clients)] as const;
    const own = [await processOf(both[0]), await processOf(both[1])];
    if (own[0] === own[1]) return true;
    for (const index of asked) if ((await processOf(both[index as 0 | 1])) !== own[index]) return true;
    return false;
  } catch (error) {
    throw error instanceof pg.DatabaseError ? error : new ConnectionLost(error);
  } finally {
    for (const client of clients) client.end().catch(() => {});
  }
}

async function connect(url: string, clients: pg.Client[]): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
  });
  client.on('error', () => {});
  clients.push(client);
  await client.connect();
  return client;
}

async function processOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}
