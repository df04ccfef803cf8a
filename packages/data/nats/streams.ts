import type { StreamConfig } from '@nats-io/jetstream';
import { AppError } from '@octavo/core';
import { isMissing, type Nats, type NatsLink } from './link.ts';

export type NamedStream = Partial<StreamConfig> & Pick<StreamConfig, 'name'>;

export interface NatsStreamsOptions {
  readonly link: NatsLink;
  /** Streams that exist keep their own configuration. */
  readonly streams: readonly NamedStream[];
  /**
   * True if all consumers of the streams are this program's, which opens them again. One that is ahead of its stream is deleted: a server
   * that crashed while its disk was full may number an empty stream from 1 again, and the consumer would take new messages for those that it has
   * delivered.
   */
  readonly ownsConsumers?: boolean;
  /** Called before a missing stream is created. If it throws, the stream is not created. */
  readonly onMissing?: () => Promise<void>;
}

/**
 * Streams that are created when they are missing: at first, after each reconnect, and when work fails because they are gone. So a
 * server that lost its storage, or another one in its place, is usable again.
 */
export class NatsStreams implements AsyncDisposable {
  readonly #options: NatsStreamsOptions;
  readonly #offUp: () => void;
  #ensured: Promise<void> | undefined;

  constructor(options: NatsStreamsOptions) {
    this.#options = options;
    // What existed before a reconnect may be gone.
    this.#offUp = options.link.onUp(() => void this.renew().catch(() => {}));
  }

  /** Creates missing streams. Asks the server only once after each reconnect or loss. */
  ensure(): Promise<void> {
    return this.#ensured ?? this.renew();
  }

  /** Creates missing streams now. */
  renew(): Promise<void> {
    const created = this.#create();
    this.#ensured = created;
    created.catch(() => {
      if (this.#ensured === created) this.#ensured = undefined;
    });
    return created;
  }

  /** Runs work on the streams. If they are gone, creates them and runs it once more, so it must be idempotent. */
  async use<T>(work: (nats: Nats) => Promise<T>): Promise<T> {
    await this.ensure();
    try {
      return await this.#options.link.use(work);
    } catch (error) {
      if (!isGone(error)) throw error;
      await this.renew();
      return this.#options.link.use(work);
    }
  }

  /** Throws `unavailable` if a stream is missing, and then starts to create it. Also throws if the server does not respond. */
  async check(): Promise<void> {
    await this.ensure();
    const { link, streams } = this.#options;
    const missing = await link.use((nats) => missingOf(nats, streams));
    if (missing.length === 0) return;
    this.renew().catch(() => {});
    const names = missing.map(({ name }) => name).join(', ');
    throw new AppError('unavailable', `The message broker has lost ${names}.`, { retryAfterSeconds: 1 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#offUp();
    await this.#ensured?.catch(() => {});
  }

  async #create(): Promise<void> {
    const { link, streams, ownsConsumers, onMissing } = this.#options;
    const missing = await link.use((nats) => missingOf(nats, streams));
    if (ownsConsumers)
      for (const stream of streams)
        if (!missing.includes(stream)) await link.use((nats) => deleteConsumersAhead(nats, stream));
    if (missing.length === 0) return;
    await onMissing?.();
    for (const stream of missing) await link.use(({ manager }) => manager.streams.add(stream));
  }
}

async function missingOf({ manager }: Nats, streams: readonly NamedStream[]): Promise<NamedStream[]> {
  const missing: NamedStream[] = [];
  for (const stream of streams) {
    try {
      await manager.streams.info(stream.name);
    } catch (error) {
      if (!isMissing(error)) throw error;
      missing.push(stream);
    }
  }
  return missing;
}

async function deleteConsumersAhead({ manager }: Nats, { name }: NamedStream): Promise<void> {
  // The stream is read after its consumers: it is never behind them but after a loss.
  const consumers = await Array.fromAsync(manager.consumers.list(name));
  const { state } = await manager.streams.info(name);
  for (const consumer of consumers)
    if (consumer.delivered.stream_seq > state.last_seq) await manager.consumers.delete(name, consumer.name);
}

/**
 * Returns true if the stream is missing, or nothing at the server takes the message, which the client reports as JetStream
 * being off.
 */
function isGone(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'JetStreamNotEnabled' || isMissing(cause)) return true;
  }
  return false;
}
