import { Socket } from 'node:net';
import { runEvery } from '@octavo/core/concurrency';
import pg from 'pg';

/** Interval of looks at the connections, silence after which the server is asked, and time it may take to accept a connection. */
const lookEveryMs = 250;
const silentMs = 1_500;
const probeMs = 3_500;

/** A connection in use. */
export interface WatchedConnection {
  /** Process of the server that answers it. */
  readonly processId: number | null;
  /** Start of the server's silence while it owes an answer; undefined if it owes none. */
  silentSinceMs(nowMs: number): number | undefined;
  /** Ends it, and what runs on it. */
  cut(): void;
}

/**
 * Ends the connections on which a frozen server owes an answer: within about five seconds instead of the timeout of a statement. A
 * server that is only slow lets a new connection in, and may go on, except for its processes that have not even begun.
 */
export class FreezeWatch implements Disposable {
  readonly #url: string;
  readonly #connections: Iterable<WatchedConnection>;
  readonly #looking: Disposable;
  #isProbing = false;

  constructor(url: string, connections: Iterable<WatchedConnection>) {
    this.#url = url;
    this.#connections = connections;
    // Not awaited: looks go on during a probe.
    this.#looking = runEvery(lookEveryMs, () => void this.#look());
  }

  [Symbol.dispose](): void {
    this.#looking[Symbol.dispose]();
  }

  async #look(): Promise<void> {
    const startedMs = performance.now();
    // Each is asked at every look, which is how it notices that something has arrived.
    const silent = this.#silentUntil(startedMs - silentMs);
    if (silent.length === 0 || this.#isProbing) return;
    this.#isProbing = true;
    const frozen = await findFrozen(
      this.#url,
      silent.map(({ processId }) => processId),
    );
    this.#isProbing = false;
    // A server that is silent as a whole owes their answers, too, to those that were not yet late when the probe began.
    const askedMs = frozen === 'all' ? performance.now() : startedMs;
    for (const connection of this.#silentUntil(askedMs - silentMs))
      if (frozen === 'all' || frozen.has(connection.processId)) connection.cut();
  }

  #silentUntil(sinceMs: number): WatchedConnection[] {
    const nowMs = performance.now();
    return [...this.#connections].filter((connection) => {
      const silentSinceMs = connection.silentSinceMs(nowMs);
      return silentSinceMs !== undefined && silentSinceMs <= sinceMs;
    });
  }
}

/**
 * Returns which processes of the server are frozen: all of them if nothing at all comes from it in time, for which a refusal is a sign of
 * life; else those that are idle although they were sent a statement long ago.
 */
async function findFrozen(
  url: string,
  processIds: readonly (number | null)[],
): Promise<'all' | ReadonlySet<number | null>> {
  let isSilent = false;
  const stream = new Socket();
  const client = new pg.Client({ connectionString: url, stream: () => stream });
  client.on('error', () => {});
  const giveUp = (): void => {
    isSilent = true;
    stream.destroy();
  };
  // What arrived while this process was busy counts.
  const late = setTimeout(() => setImmediate(giveUp), probeMs);
  const idle = await client
    .connect()
    .then(() => client.query<{ pid: number }>(idleOf, [processIds]))
    .then(
      ({ rows }) => rows.map(({ pid }) => pid),
      () => [],
    );
  clearTimeout(late);
  void client.end().catch(() => {});
  return isSilent ? 'all' : new Set(idle);
}

const idleOf = "SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1::int[]) AND state LIKE 'idle%'";
