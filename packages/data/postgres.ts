/** The client of PostgreSQL, for checks of a server. */
export { processNames } from './db/postgres/connections.ts';
export { startError } from './db/postgres/errors.ts';
export { connectionsOfProcess } from './db/postgres/open.ts';
export { PostgresPool } from './db/postgres/pool.ts';
export { requestTimeouts } from './db/postgres/timeouts.ts';
