import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import type { Clock, Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { backoffMs, Notifier, runEvery } from '@octavo/core/concurrency';
import type { Database } from '../db/index.ts';
import { isMissing, type NatsLink } from '../nats/link.ts';
import { NatsStreams } from '../nats/streams.ts';
import { fromHeaders, type StreamEvent, toHeaders } from './event.ts';
import type { EventMetrics } from './metrics.ts';
import { type Expand, eventsOf } from './outbox.ts';
import { OutboxConsumer } from './outbox-consumer.ts';
import { followOutbox, type OutboxFollower } from './outbox-follower.ts';
import { type EventTables, type OutboxRow, restartReader } from './outbox-statements.ts';
import { startSweep } from './outbox-sweep.ts';
import type { ConsumerOptions, EventHandler, EventStream } from './stream.ts';

export interface NatsEventsOptions {
  readonly link: NatsLink;
  readonly database: Database<EventTables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
  readonly keptMs: number;
  readonly source: string;
  /** Prefix of the subjects `<name>.<type>`, with `-` for the dots of the type. In capitals and with `_` for dots, it names the stream. */
  readonly name: string;
  /** Keeps the dots of the type in subjects: `<name>.thing.made.v1`. */
  readonly keepsDots?: boolean;
  /** The id of an event is the id of its message, without the source before it. Only where ids are unique in the whole stream. */
  readonly plainIds?: boolean;
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
/**
 * Duration of a request for messages. The client also waits this long, give or take a half, before it asks again after a reconnect to a server
 * that is not ready yet.
 */
const pullMs = 5_000;
/** Renewals of messages in progress within the time of one lease. */
const renewals = 3;
const backoff = { firstMs: 200, maxMs: 10_000 };

/**
 * A publisher copies the outbox to a stream of JetStream, where consumers have their positions. Published rows are kept as long as
 * the stream keeps its events. If the stream is lost, they are published again.
 */
export class NatsEvents implements EventStream {
  readonly #options: NatsEventsOptions;
  readonly #stream: string;
  readonly #streams: NatsStreams;
  readonly #consumers = new Set<NatsConsumer>();
  #publisher: OutboxConsumer | undefined;
  readonly #followers = new Set<OutboxFollower>();

  constructor(options: NatsEventsOptions) {
    const { link, name, keepsDots = false, keptMs, database } = options;
    this.#options = options;
    this.#stream = name.toUpperCase().replaceAll('.', '_');
    const stream = {
      name: this.#stream,
      subjects: [`${name}.${keepsDots ? '>' : '*'}`],
      max_age: keptMs * nanosecondsPerMs,
      duplicate_window: duplicateWindowMs * nanosecondsPerMs,
    };
    const onMissing = async () => {
      await restartReader(database, readerName);
    };
    this.#streams = new NatsStreams({ link, streams: [stream], onMissing });
  }

  notify(): void {
    this.#publisher?.notify();
    for (const follower of this.#followers) follower.notify();
  }

  publish(): AsyncDisposable {
    const { link } = this.#options;
    const publisher = new OutboxConsumer({
      ...this.#options,
      name: readerName,
      handle: (rows) => this.#publishRows(rows),
    });
    this.#publisher = publisher;
    const sweep = startSweep({ ...this.#options, reader: readerName });
    const offUp = link.onUp(() => publisher.notify());
    return {
      [Symbol.asyncDispose]: async () => {
        offUp();
        await sweep[Symbol.asyncDispose]();
        await publisher[Symbol.asyncDispose]();
      },
    };
  }

  consume(options: ConsumerOptions, handler: EventHandler): AsyncDisposable {
    const { metrics, clock, log, leaseMs } = this.#options;
    metrics.declare(options.name);
    const consumer = new NatsConsumer({
      ...options,
      log,
      leaseMs,
      handler: async (events, signal) => {
        await handler(events, signal);
        metrics.consumed(options.name, events, clock.now());
      },
      open: () => this.#openConsumer(options),
    });
    this.#consumers.add(consumer);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#consumers.delete(consumer);
        await consumer[Symbol.asyncDispose]();
      },
    };
  }

  /** Follows the outbox, which all processes share and which is there before the broker. */
  follow(handler: EventHandler): AsyncDisposable {
    const follower = followOutbox(this.#options, handler);
    this.#followers.add(follower);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#followers.delete(follower);
        await follower[Symbol.asyncDispose]();
      },
    };
  }

  async ping(): Promise<void> {
    await this.#streams.check();
    for (const consumer of this.#consumers) consumer.check();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#streams[Symbol.asyncDispose]();
  }

  /**
   * In order: each message names the one before it, so the server rejects all messages after one that was lost, and all of them if
   * the stream was replaced by an empty one.
   */
  async #publishRows(rows: readonly OutboxRow[]): Promise<void> {
    const { link, source, expand, metrics, plainIds = false } = this.#options;
    const { headers } = await import('@nats-io/transport-node');
    let expect: { lastSequence: number } | { lastMsgID: string } = {
      lastSequence: await this.#lastSequence(),
    };
    for (const events of inBatches(rows.flatMap((row) => eventsOf(row, source, expand)))) {
      const startedMs = performance.now();
      await link.use(({ client }) => {
        const sent = events.map((event) => {
          const all = headers();
          for (const [name, value] of toHeaders(event)) all.set(name, value);
          const msgID = plainIds ? event.id : messageId(event);
          const published = client.publish(this.#subjectOf(event.type), event.data, {
            headers: all,
            msgID,
            expect,
          });
          expect = { lastMsgID: msgID };
          return published;
        });
        return Promise.all(sent);
      });
      metrics.published(events);
      // After a full batch, leaves as much time to the writers of these events.
      if (events.length === unacknowledgedMax) await delay(performance.now() - startedMs);
    }
  }

  /** Sequence number of the last message in the stream. If the stream is missing, creates it and throws, because older rows must be published first. */
  async #lastSequence(): Promise<number> {
    try {
      const { state } = await this.#options.link.use(({ manager }) => manager.streams.info(this.#stream));
      return state.last_seq;
    } catch (error) {
      if (isMissing(error)) await this.#streams.renew();
      throw error;
    }
  }

  async #openConsumer({ name, types, batchMax }: ConsumerOptions): Promise<Consumer> {
    const [type = '', ...others] = types;
    // NATS 2.9 cannot filter by several subjects.
    const filter = others.length === 0 ? { filter_subject: this.#subjectOf(type) } : {};
    return this.#streams.use(async ({ client, manager }) => {
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
    const { name, keepsDots = false } = this.#options;
    return `${name}.${keepsDots ? type : type.replaceAll('.', '-')}`;
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
  #isFailing = false;

  constructor(options: NatsConsumerOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Throws `unavailable` if events cannot be pulled. */
  check(): void {
    if (this.#isFailing) throw new AppError('unavailable', 'Events cannot be read from the message broker.');
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
        this.#isFailing = true;
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
      expires: pullMs,
      idle_heartbeat: pullMs / 2,
      abort_on_missing_resource: true,
    });
    this.#isFailing = false;
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
    const renewing = runEvery(leaseMs / renewals, () => {
      for (const message of [...messages, ...this.#arrived]) message.working();
    });
    const isDone = events.length === 0 || (await this.#retry(events, signal));
    renewing[Symbol.dispose]();
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
