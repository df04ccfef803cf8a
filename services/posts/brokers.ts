import type { Clock } from '@octavo/core';
import { type Config, flag, integer, problemsOf, refuse, type Settings, text } from '@octavo/core';
import type { Database } from '@octavo/data';
import { type EventStream, openNatsEvents, openTableEvents } from '@octavo/data/events';
import { type JobQueue, leaseSettings, openNatsJobs, openTableJobs } from '@octavo/data/jobs';
import { checkNats, isNatsName, NatsLink, natsNameRule, natsSettings } from '@octavo/data/nats';
import type { ServiceContext } from '@octavo/data/service';
import type { Tables } from './database.ts';
import { expandEvents } from './events/index.ts';

const dayMs = 86_400_000;

export const brokerSettings = {
  MESSAGE_BROKER: flag({
    default: true,
    help: 'Enables reanalyses: jobs are kept in the database, or in NATS if NATS_URL is set',
  }),
  EVENT_STREAM: flag({
    default: true,
    help: 'Publishes changes of posts as events: in the database, or in NATS if NATS_URL is set',
  }),
  ...natsSettings,
  NATS_PREFIX: text({ default: 'octavo', help: 'First part of the subjects and streams in NATS' }),
  EVENT_DAYS: integer({
    default: 7,
    min: 1,
    max: 3_650,
    help: 'Days that events are kept for consumers that are down',
  }),
  ...leaseSettings,
} satisfies Settings;

/** Integrations that are switched on. */
export interface Brokers {
  readonly queue: JobQueue | undefined;
  readonly events: EventStream | undefined;
}

/** Opens jobs and events where the settings say: in tables of the database, or in NATS. */
export async function openBrokers(
  config: Config<typeof brokerSettings>,
  { log, metrics, clock }: Pick<ServiceContext, 'log' | 'metrics'> & { clock: Clock },
  database: Database<Tables>,
): Promise<Brokers & AsyncDisposable> {
  checkBrokers(config);
  await using stack = new AsyncDisposableStack();
  const { NATS_URL: url, NATS_PREFIX: prefix, JOB_LEASE_MS: leaseMs, MESSAGE_BROKER, EVENT_STREAM } = config;
  const isNeeded = url !== undefined && (MESSAGE_BROKER || EVENT_STREAM);
  const link = isNeeded ? stack.use(new NatsLink({ url, name: 'octavo posts', log })) : undefined;
  const common = { clock, leaseMs, log, metrics };
  const source = `/${prefix}/posts`;
  const stream = { ...common, database, source, keptMs: config.EVENT_DAYS * dayMs, expand: expandEvents };
  const openQueue = async () =>
    link ? openNatsJobs(link, { ...common, name: `${prefix}.jobs` }) : openTableJobs(database, common);
  const openEvents = async () =>
    link ? openNatsEvents(link, { ...stream, name: `${prefix}.posts` }) : openTableEvents(stream);
  const queue = MESSAGE_BROKER ? stack.use(await openQueue()) : undefined;
  const events = EVENT_STREAM ? stack.use(await openEvents()) : undefined;
  const owned = stack.move();
  return { queue, events, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Refuses an address or a prefix that NATS does not take. */
export function checkBrokers(config: Config<typeof brokerSettings>): void {
  refuse({
    ...problemsOf([() => checkNats(config)]),
    ...(!isNatsName(config.NATS_PREFIX) && { NATS_PREFIX: natsNameRule }),
  });
}
