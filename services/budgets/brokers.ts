import { type Config, problemsOf, refuse } from '@octavo/core';
import type { Database } from '@octavo/data';
import { type EventStream, openNatsEvents, openTableEvents } from '@octavo/data/events';
import { type JobQueue, openTableJobs } from '@octavo/data/jobs';
import { checkNats, isNatsName, NatsLink, natsNameRule } from '@octavo/data/nats';
import type { ServiceParts } from '@octavo/data/service';
import { expandEvents } from './notifications/index.ts';
import type { settings } from './settings.ts';
import type { Tables } from './store/tables.ts';

/** Retention of events for later consumers. */
const eventsKeptMs = 24 * 3_600_000;

export interface Brokers {
  readonly queue: JobQueue;
  readonly events: EventStream;
  /** True if events go to NATS. */
  readonly isRemote: boolean;
}

/** Jobs are a table of the service's own database. So are events, which a publisher copies to NATS where it is set. */
export async function openBrokers(
  { config, context, stack }: Pick<ServiceParts<typeof settings>, 'config' | 'context' | 'stack'>,
  database: Database<Tables>,
): Promise<Brokers> {
  const { NATS_URL: url, BUDGETS_NATS_NAME: name, JOB_LEASE_MS: leaseMs } = config;
  const { clock, log, metrics } = context;
  const common = { clock, leaseMs, log, metrics };
  const source = '/octavo/budgets';
  const stream = { ...common, database, source, keptMs: eventsKeptMs, expand: expandEvents };
  const queue = stack.use(openTableJobs(database, common));
  if (url === undefined) return { queue, events: stack.use(openTableEvents(stream)), isRemote: false };
  const link = stack.use(new NatsLink({ url, name: 'octavo budgets', log }));
  // The id of a notification is unique everywhere, so it names the message too.
  const form = { name, keepsDots: true, plainIds: true };
  return { queue, events: stack.use(await openNatsEvents(link, { ...stream, ...form })), isRemote: true };
}

/** Refuses an address or a name that NATS does not take. */
export function checkBrokers(config: Config<typeof settings>): void {
  refuse({
    ...problemsOf([() => checkNats(config)]),
    ...(!isNatsName(config.BUDGETS_NATS_NAME) && { BUDGETS_NATS_NAME: natsNameRule }),
  });
}
