import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { backoffMs } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/index.ts';
import type { Log } from '../log.ts';
import type { Nats, NatsLink } from '../nats/link.ts';
import { Notifier } from '../notifier.ts';
import { fromHeaders, type StreamEvent, toHeaders } from './event.ts';
import type { EventMetrics } from './metrics.ts';
import { type Expand, eventsOf } from './outbox.ts';
import { OutboxConsumer } from './outbox-consumer.ts';
import { dropRows, type EventTables, type OutboxRow } from './outbox-statements.ts';
import type { ConsumerOptions, EventHandler, EventStream } from './stream.ts';

export interface NatsEventsOptions<DB extends EventTables> {
  readonly link: NatsLink;
  readonly database: Database<DB>;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
  readonly keptMs: number;
  readonly source: string;
  /** Prefix of the subjects `<name>.<type>`, with `-` for the dots of the type. In capitals and with `_` for dots, it names the stream. */
  readonly name: string;
  readonly expand: Expand;
  readonly metrics: EventMetrics;
}

const nanosecondsPerMs = 1_000_000;
/** An event that is published twice within this time is stored once. */
const duplicateWindowMs = 600_000;
const readerName = 'publisher';
/** The most messages that wait for an acknowledgement at the same time. */
const unacknowledgedMax = 100;
/** Batches that a consumer holds, so that it does not wait for the server. */
const batchesAhead = 3;
/** Renewals of messages in progress within the time of one lease. */
const renewals = 3;
const backoff = { firstMs: 200, maxMs: 10_000 };

/** A publisher copies the outbox to a stream of JetStream, where consumers have their positions. */
export class NatsEvents<DB extends EventTables> implements EventStream {
  readonly #options: NatsEventsOptions<DB>;
  readonly #stream: string;
  #publisher: OutboxConsumer<DB> | undefined;
  #ensured: Promise<void> | undefined;

  constructor(options: NatsEventsOptions<DB>) {
    this.#options = options;
    this.#stream = options.name.toUpperCase().replaceAll('.', '_');
  }

  notify(): void {
    this.#publisher?.notify();
  }

  publish(): AsyncDisposable {
    const { link } = this.#options;
    const publisher = new OutboxConsumer({
      ...this.#options,
      name: readerName,
      handle: (rows) => this.#publishRows(rows),
    });
    this.#publisher = publisher;
    const offUp = link.onUp(() => publisher.notify());
    return {
      [Symbol.asyncDispose]: async () => {
        offUp();
        await publisher[Symbol.asyncDispose]();
      },
    };
  }

  consume(options: ConsumerOptions, handler: EventHandler): AsyncDisposable {
    const { metrics, clock, log, leaseMs } = this.#options;
    return new NatsConsumer({
      ...options,
      log,
      leaseMs,
      handler: async (events, signal) => {
        await handler(events, signal);
        metrics.consumed(options.name, events, clock.now());
      },
      open: () => this.#openConsumer(options),
    });
  }

  ping(): Promise<void> {
    return this.#options.link.ping();
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** In order: each message names the previous one, so the server rejects all messages after one that was lost. */
  async #publishRows(rows: readonly OutboxRow[]): Promise<void> {
    const { link, source, expand, metrics, database } = this.#options;
    await this.#ensure();
    const { headers } = await import('@nats-io/transport-node');
    for (const events of inBatches(rows.flatMap((row) => eventsOf(row, source, expand)))) {
      const startedMs = performance.now();
      await link.use(({ client }) => {
        let before: string | undefined;
        const sent = events.map((event) => {
          const all = headers();
          for (const [name, value] of toHeaders(event)) all.set(name, value);
          const expect = before === undefined ? {} : { expect: { lastMsgID: before } };
          before = messageId(event);
          return client.publish(this.#subjectOf(event.type), event.data, {
            headers: all,
            msgID: before,
            ...expect,
          });
        });
        return Promise.all(sent);
      });
      metrics.published(events);
      // After a full batch, leaves as much time to whatever writes so many events.
      if (events.length === unacknowledgedMax) await delay(performance.now() - startedMs);
    }
    // Published rows are no longer needed.
    const position = rows.at(-1)?.seq ?? 0;
    await dropRows.run(database, { position, beforeMs: Number.MAX_SAFE_INTEGER });
  }

  async #openConsumer({ name, types, batchMax }: ConsumerOptions): Promise<Consumer> {
    await this.#ensure();
    const [type = '', ...others] = types;
    // NATS 2.9 cannot filter by several subjects.
    const filter = others.length === 0 ? { filter_subject: this.#subjectOf(type) } : {};
    return this.#options.link.use(async ({ client, manager }: Nats) => {
      await manager.consumers.add(this.#stream, {
        durable_name: name,
        ...filter,
        deliver_policy: 'all',
        ack_policy: 'explicit',
        // If acknowledgements are lost with a server, the rest waits this long.
        ack_wait: this.#options.leaseMs * nanosecondsPerMs,
        max_deliver: -1,
        max_ack_pending: batchesAhead * batchMax,
      });
      return client.consumers.get(this.#stream, name);
    });
  }

  #subjectOf(type: string): string {
    return `${this.#options.name}.${type.replaceAll('.', '-')}`;
  }

  #ensure(): Promise<void> {
    const { link, name, keptMs } = this.#options;
    this.#ensured ??= link
      .ensureStream({
        name: this.#stream,
        subjects: [`${name}.*`],
        max_age: keptMs * nanosecondsPerMs,
        duplicate_window: duplicateWindowMs * nanosecondsPerMs,
      })
      .catch((error) => {
        this.#ensured = undefined;
        throw error;
      });
    return this.#ensured;
  }
}

interface NatsConsumerOptions extends ConsumerOptions {
  readonly leaseMs: number;
  readonly log: Log;
  readonly handler: EventHandler;
  readonly open: () => Promise<Consumer>;
}

/** Pulls messages as they arrive, and handles all that have arrived at once. */
class NatsConsumer implements AsyncDisposable {
  readonly #options: NatsConsumerOptions;
  readonly #stop = new AbortController();
  readonly #notifier = new Notifier();
  /** Messages that have arrived and are not handled yet. */
  readonly #arrived: JsMsg[] = [];
  readonly #running: Promise<void>;
  #failures = 0;

  constructor(options: NatsConsumerOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { log, name } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#pull(signal);
      } catch (error) {
        log[this.#failures++ === 0 ? 'warn' : 'debug'](
          { err: error, consumer: name },
          'events cannot be pulled',
        );
        await delay(backoffMs(this.#failures, backoff), undefined, { signal }).catch(() => {});
      }
    }
  }

  async #pull(signal: AbortSignal): Promise<void> {
    const { open, batchMax } = this.#options;
    const consumer = await open();
    const messages = await consumer.consume({
      max_messages: batchesAhead * batchMax,
      expires: 30_000,
      idle_heartbeat: 5_000,
      abort_on_missing_resource: true,
    });
    const arrived = this.#arrived;
    let ended: { error?: unknown } | undefined;
    const reading = (async () => {
      for await (const message of messages) {
        arrived.push(message);
        this.#notifier.notify();
      }
    })().then(
      () => {
        ended = {};
        this.#notifier.notify();
      },
      (error) => {
        ended = { error };
        this.#notifier.notify();
      },
    );
    try {
      while (!signal.aborted && !ended) {
        if (arrived.length === 0) await this.#notifier.wait(60_000, signal);
        else await this.#handle(arrived.splice(0, batchMax), signal);
      }
      if (ended && !signal.aborted) throw ended.error ?? new Error('the consumer ended');
    } finally {
      messages.stop();
      await reading;
      for (const message of arrived.splice(0)) message.nak();
    }
  }

  /** Retries until it succeeds, so that events stay in order. */
  async #handle(messages: readonly JsMsg[], signal: AbortSignal): Promise<void> {
    const { types, leaseMs } = this.#options;
    const events = messages
      .map(({ headers, data }) => fromHeaders((header) => headers?.get(header) ?? '', data))
      .filter(({ type }) => types.includes(type));
    const timer = setInterval(() => {
      for (const message of [...messages, ...this.#arrived]) message.working();
    }, leaseMs / renewals);
    const isDone = events.length === 0 || (await this.#retry(events, signal));
    clearInterval(timer);
    for (const message of messages) isDone ? message.ack() : message.nak();
    this.#failures = 0;
  }

  /** False if the consumer stops first. */
  async #retry(events: readonly StreamEvent[], signal: AbortSignal): Promise<boolean> {
    const { handler, log, name } = this.#options;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        await handler(events, signal);
        return true;
      } catch (error) {
        const waitMs = backoffMs(failures, backoff);
        log[failures === 1 ? 'warn' : 'debug'](
          { err: error, consumer: name, waitMs },
          'events could not be handled; they will be retried',
        );
        await delay(waitMs, undefined, { signal }).catch(() => {});
      }
    }
    return false;
  }
}

/** Splits events into batches that may be unacknowledged together. */
function* inBatches(events: readonly StreamEvent[]): Generator<readonly StreamEvent[]> {
  for (let start = 0; start < events.length; start += unacknowledgedMax)
    yield events.slice(start, start + unacknowledgedMax);
}

function messageId({ source, id }: StreamEvent): string {
  return `${source}/${id}`;
}
