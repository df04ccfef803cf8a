/** The client of PostgreSQL, for checks of a server. */
export { startError } from './db/postgres/errors.ts';
export { PostgresPool, requestTimeouts } from './db/postgres/pool.ts';
