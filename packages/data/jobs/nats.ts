import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, ConsumerMessages, JsMsg, StoredMsg } from '@nats-io/jetstream';
import type { Log } from '@octavo/core';
import { AppError, notFound } from '@octavo/core';
import { isMissing, type NatsLink } from '../nats/link.ts';
import { NatsStreams } from '../nats/streams.ts';
import type { JobMetrics } from './metrics.ts';
import {
  checkJob,
  type DeadJob,
  type Job,
  type JobHandler,
  type JobQueue,
  type NewJob,
  type WorkOptions,
} from './queue.ts';
import type { JobSource, LeasedJob } from './source.ts';
import { JobWorker } from './worker.ts';

export interface NatsJobsOptions {
  readonly link: NatsLink;
  /** Prefix of the subjects. In capitals and with `_` for dots, it names the streams. */
  readonly name: string;
  readonly leaseMs: number;
  readonly log: Log;
  readonly metrics: JobMetrics;
}

const nanosecondsPerMs = 1_000_000;
const dayMs = 86_400_000;
const deadMaxAgeMs = 30 * dayMs;
/** A job that is added twice within this time is queued once. */
const duplicateWindowMs = 120_000;
/** Time for which a request for jobs is open at the server. */
const fetchMs = 30_000;
/**
 * Interval at which the server confirms that it still has the request; after two that are missing, the consumer is opened
 * again.
 */
const heartbeatMs = 5_000;
const retryMs = 500;

/** Jobs in a work queue of JetStream. */
export class NatsJobs implements JobQueue {
  readonly #options: NatsJobsOptions;
  readonly #stream: string;
  readonly #deadStream: string;
  readonly #streams: NatsStreams;
  readonly #sources = new Set<NatsSource>();

  constructor(options: NatsJobsOptions) {
    const { link, name } = options;
    this.#options = options;
    this.#stream = name.toUpperCase().replaceAll('.', '_');
    this.#deadStream = `${this.#stream}_DEAD`;
    const queued = {
      name: this.#stream,
      subjects: [`${name}.do.*`],
      retention: 'workqueue' as const,
      duplicate_window: duplicateWindowMs * nanosecondsPerMs,
    };
    const dead = {
      name: this.#deadStream,
      subjects: [`${name}.dead.*.*`],
      max_msgs_per_subject: 1,
      max_age: deadMaxAgeMs * nanosecondsPerMs,
    };
    this.#streams = new NatsStreams({ link, streams: [queued, dead], ownsConsumers: true });
  }

  async add(jobs: readonly NewJob[]): Promise<void> {
    for (const job of jobs) checkJob(job);
    await this.#streams.use(({ client }) => Promise.all(jobs.map((job) => this.#publish(client, job))));
  }

  work(options: WorkOptions, handler: JobHandler): AsyncDisposable {
    const { log, metrics } = this.#options;
    const source = new NatsSource({
      ...this.#options,
      kind: options.kind,
      stream: this.#stream,
      subject: this.#subjectOf(options.kind),
      streams: this.#streams,
      bury: (job, error) => this.#bury(job, error),
      onEnd: () => this.#sources.delete(source),
    });
    this.#sources.add(source);
    return new JobWorker({ ...options, source, handler, log, metrics });
  }

  async dead(limit: number): Promise<DeadJob[]> {
    return this.#streams.use(async ({ manager }) => {
      const { state } = await manager.streams.info(this.#deadStream);
      const found: DeadJob[] = [];
      for (
        let seq = state.last_seq;
        seq >= state.first_seq && found.length < Math.min(limit, state.messages);
        seq--
      ) {
        const message = await manager.streams.getMessage(this.#deadStream, { seq }).catch(undefinedIfMissing);
        if (message) found.push(toDead(message));
      }
      return found;
    });
  }

  async revive(id: string): Promise<void> {
    checkJob({ id, kind: 'any' });
    const message = await this.#streams.use(({ manager }) =>
      manager.streams
        .getMessage(this.#deadStream, { last_by_subj: `${this.#options.name}.dead.*.${id}` })
        .catch(undefinedIfMissing),
    );
    if (!message) throw notFound('dead job', id);
    await this.#streams.use(async ({ client, manager }) => {
      await this.#publish(client, toDead(message), `${id}:${message.seq}`);
      await manager.streams.deleteMessage(this.#deadStream, message.seq);
    });
  }

  async ping(): Promise<void> {
    await this.#streams.check();
    for (const source of this.#sources) source.check();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#streams[Symbol.asyncDispose]();
  }

  async #publish(client: Publisher, job: NewJob, messageId = job.id): Promise<void> {
    await client.publish(this.#subjectOf(job.kind), job.payload, {
      msgID: messageId,
      headers: await headersOf(job),
    });
  }

  #bury(job: Job, error: string): Promise<void> {
    const subject = `${this.#options.name}.dead.${job.kind}.${job.id}`;
    return this.#streams.use(async ({ client }) => {
      const headers = await headersOf(job);
      headers.set('Job-Attempts', String(job.attempt));
      headers.set('Job-Error', encodeURIComponent(error.slice(0, 1_000).toWellFormed()));
      await client.publish(subject, job.payload, { headers });
    });
  }

  #subjectOf(kind: string): string {
    return `${this.#options.name}.do.${kind}`;
  }
}

interface SourceOptions extends NatsJobsOptions {
  readonly kind: string;
  readonly stream: string;
  readonly subject: string;
  readonly streams: NatsStreams;
  bury(job: Job, error: string): Promise<void>;
  onEnd(): void;
}

/** Asks the server for as many jobs as slots are free, so that no job waits here while another worker is free. */
class NatsSource implements JobSource {
  readonly leaseMs: number;
  readonly #options: SourceOptions;
  readonly #offUp: () => void;
  readonly #waiting: ((leased: LeasedJob | undefined) => void)[] = [];
  readonly #fetches = new Set<ConsumerMessages>();
  /** Jobs that were requested and have not arrived yet. */
  #asked = 0;
  #consumer: Consumer | undefined;
  #isFailing = false;

  constructor(options: SourceOptions) {
    this.leaseMs = options.leaseMs;
    this.#options = options;
    // After a reconnect, the server has forgotten earlier requests, and perhaps the consumer.
    this.#offUp = options.link.onUp(() => {
      this.#consumer = undefined;
      this.#stopFetches();
    });
  }

  next(signal: AbortSignal): Promise<LeasedJob | undefined> {
    const { promise, resolve } = Promise.withResolvers<LeasedJob | undefined>();
    this.#waiting.push(resolve);
    if (this.#waiting.length === 1) {
      signal.addEventListener('abort', () => this.#stopFetches(), { once: true });
    }
    // Slots that ask in the same turn share a request.
    setImmediate(() => this.#ask(signal));
    return promise;
  }

  /** Throws `unavailable` if the latest request for jobs failed. */
  check(): void {
    if (this.#isFailing) throw new AppError('unavailable', 'Jobs cannot be fetched from the message broker.');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#offUp();
    this.#options.onEnd();
  }

  #stopFetches(): void {
    for (const messages of this.#fetches) messages.stop();
  }

  #ask(signal: AbortSignal): void {
    const wanted = this.#waiting.length - this.#asked;
    if (signal.aborted) for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    else if (wanted > 0) void this.#fetch(wanted, signal);
  }

  async #fetch(wanted: number, signal: AbortSignal): Promise<void> {
    this.#asked += wanted;
    let missing = wanted;
    try {
      const messages = await this.#open(wanted);
      this.#isFailing = false;
      this.#fetches.add(messages);
      if (signal.aborted) messages.stop();
      for await (const message of messages) {
        missing--;
        this.#asked--;
        this.#deliver(message, signal);
      }
      this.#fetches.delete(messages);
    } catch (error) {
      this.#consumer = undefined;
      this.#isFailing = true;
      this.#options.log.debug({ err: error, kind: this.#options.kind }, 'jobs cannot be fetched');
      await delay(retryMs * (1 + Math.random()), undefined, { signal }).catch(() => {});
    }
    this.#asked -= missing;
    this.#ask(signal);
  }

  async #open(wanted: number): Promise<ConsumerMessages> {
    const { link, streams, stream, kind, subject, leaseMs } = this.#options;
    if (!this.#consumer) {
      this.#consumer = await streams.use(async ({ client, manager }) => {
        await manager.consumers.add(stream, {
          durable_name: kind,
          filter_subject: subject,
          ack_policy: 'explicit',
          ack_wait: leaseMs * nanosecondsPerMs,
          max_deliver: -1,
          max_ack_pending: -1,
        });
        return client.consumers.get(stream, kind);
      });
    }
    const consumer = this.#consumer;
    return link.use(() =>
      consumer.fetch({ max_messages: wanted, expires: fetchMs, idle_heartbeat: heartbeatMs }),
    );
  }

  #deliver(message: JsMsg, signal: AbortSignal): void {
    const slot = signal.aborted ? undefined : this.#waiting.shift();
    if (slot) slot(this.#leased(message));
    else message.nak();
  }

  #leased(message: JsMsg): LeasedJob {
    const job = toJob(message, this.#options.kind);
    return {
      job,
      extend: async () => {
        await this.#options.link.use(async () => message.working());
        return true;
      },
      complete: async () => {
        await this.#options.link.use(() => message.ackAck());
      },
      retry: async (delayMs) => message.nak(delayMs),
      bury: async (error) => {
        await this.#options.bury(job, error);
        message.term();
      },
    };
  }
}

type Publisher = { publish(subject: string, payload: Uint8Array, options: object): Promise<unknown> };

async function headersOf({ id, kind, traceparent }: NewJob) {
  const { headers } = await import('@nats-io/transport-node');
  const all = headers();
  all.set('Job-Id', id);
  all.set('Job-Kind', kind);
  if (traceparent) all.set('traceparent', traceparent);
  return all;
}

function toJob(message: JsMsg, kind: string): Job {
  const { headers, data: payload, info } = message;
  const traceparent = headers?.get('traceparent') || undefined;
  return { id: headers?.get('Job-Id') ?? '', kind, payload, traceparent, attempt: info.deliveryCount };
}

function toDead({ header, data: payload, time }: StoredMsg): DeadJob {
  return {
    id: header.get('Job-Id'),
    kind: header.get('Job-Kind'),
    payload,
    traceparent: header.get('traceparent') || undefined,
    attempts: Number(header.get('Job-Attempts')),
    error: decodeURIComponent(header.get('Job-Error')),
    diedAtMs: time.getTime(),
  };
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
