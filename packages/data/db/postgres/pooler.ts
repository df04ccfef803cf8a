import { randomBytes } from 'node:crypto';
import { AppError } from '@octavo/core';
import pg from 'pg';
import type { Pooler } from '../database.ts';
import { ConnectionLost } from './errors.ts';

const answerMs = 5_000;
/** Turns of two connections, in no regular order, so that servers which take turns do not look like one for each. */
const asked = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1] as const;
/** A statement of this name does not exist, or does already: another connection to PostgreSQL has it. */
const nameProblems = new Set(['26000', '42P05']);

/**
 * Throws `precondition_failed` if the address leads to a pooler that does not work as `pooler` says. Without one, settings of a connection,
 * and statements prepared on it, would be those of its previous client.
 */
export async function checkPooler(
  url: string,
  pooler: Pooler = 'none',
  advice = 'Set DATABASE_POOLER=transaction, or name PostgreSQL itself in DATABASE_URL.',
): Promise<void> {
  const place = new URL(url).host || 'its socket';
  if (pooler === 'none' && (await withTwo(url, isTransactionPooler)))
    throw wrongPooler(`${place} is a pooler in transaction mode. ${advice}`);
  if (pooler === 'named' && !(await withTwo(url, keepsNames)))
    throw wrongPooler(
      `${place} does not keep prepared statements, as PgBouncer does from 1.21 on with max_prepared_statements. Set DATABASE_POOLER=transaction.`,
    );
}

function wrongPooler(message: string): AppError {
  return new AppError('precondition_failed', message, { reason: 'CONFIG' });
}

type Connect = () => Promise<pg.Client>;

/**
 * PostgreSQL tells each client which process answers it, and a pooler makes one up. A connection through a pooler in session mode is answered
 * by one process all the time, which serves no other connection.
 */
async function isTransactionPooler(connect: Connect): Promise<boolean> {
  const one = await connect();
  if ((await processOf(one)) === Reflect.get(one, 'processID')) return false;
  const both = [one, await connect()] as const;
  const own = [await processOf(both[0]), await processOf(both[1])] as const;
  if (own[0] === own[1]) return true;
  for (const index of asked) if ((await processOf(both[index])) !== own[index]) return true;
  return false;
}

/** Returns true if a statement that was prepared on a connection is there for each of its transactions. */
async function keepsNames(connect: Connect): Promise<boolean> {
  const both = [await connect(), await connect()] as const;
  const name = `probe ${randomBytes(9).toString('base64url')}`;
  try {
    for (const index of asked) await both[index].query({ name, text: 'SELECT 1' });
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && nameProblems.has(error.code ?? '')) return false;
    throw error;
  }
}

async function processOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

/** Runs a check with connections that have no settings of ours. */
async function withTwo(url: string, check: (connect: Connect) => Promise<boolean>): Promise<boolean> {
  const clients: pg.Client[] = [];
  const connect = async () => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
    });
    client.on('error', () => {});
    clients.push(client);
    await client.connect();
    return client;
  };
  try {
    return await check(connect);
  } catch (error) {
    throw error instanceof pg.DatabaseError ? error : new ConnectionLost(error);
  } finally {
    for (const client of clients) client.end().catch(() => {});
  }
}
