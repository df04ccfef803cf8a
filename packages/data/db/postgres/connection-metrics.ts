import { silentLog } from '@octavo/core/log';
import { Gauge, type Registry } from 'prom-client';
import { type ConnectionOptions, sharedConnections } from './connections.ts';
import { PostgresPool } from './pool.ts';
import { requestTimeouts } from './timeouts.ts';

/** Adds the gauges of this process's connections, and of all that the server has, to a registry that lacks them. */
export function connectionMetrics(registry: Registry | undefined): void {
  if (registry === undefined || registry.getSingleMetric('db_connections')) return;
  const registers = [registry];
  new Gauge({
    name: 'db_connections',
    help: 'Connections of this process to PostgreSQL, and calls that wait for one',
    labelNames: ['state'],
    registers,
    collect() {
      const all = sharedConnections();
      const sum = (count: (each: (typeof all)[number]) => number) =>
        all.reduce((n, each) => n + count(each), 0);
      this.set(
        { state: 'used' },
        sum(({ used }) => used.size),
      );
      this.set(
        { state: 'idle' },
        sum(({ idle }) => idle),
      );
      this.set(
        { state: 'waiting' },
        sum(({ waiting }) => waiting),
      );
    },
  });
  new Gauge({
    name: 'db_server_connections',
    help: 'Connections that PostgreSQL has, and the most that it lets in',
    labelNames: ['server', 'of'],
    registers,
    async collect() {
      this.reset();
      const servers = sharedConnections().filter(({ options }) => options.timeouts === requestTimeouts);
      await Promise.all(
        servers.map(async ({ options }) => {
          const counts = await countConnections(options).catch(() => undefined);
          if (!counts) return;
          const server = new URL(options.url).host;
          this.set({ server, of: 'taken' }, counts.taken);
          this.set({ server, of: 'most' }, counts.most);
        }),
      );
    },
  });
}

async function countConnections(
  options: ConnectionOptions,
): Promise<{ taken: number; most: number } | undefined> {
  await using pool = new PostgresPool({ ...options, log: silentLog });
  const { rows } = await pool.use((client) => client.query<{ taken: number; most: number }>(counted));
  return rows[0];
}

const counted = `SELECT count(*) AS taken,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most
  FROM pg_stat_activity WHERE backend_type = 'client backend'`;
