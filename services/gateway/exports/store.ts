import { setTimeout } from 'node:timers/promises';
import type { Clock, Log } from '@octavo/core';
import { AppError, notFound } from '@octavo/core';
import {
  type ByteRange,
  type ObjectStore,
  type SpillBudget,
  SpillBuffer,
  SpillOverflow,
  type StoredObject,
} from '@octavo/data/objects';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ExportFile } from './export-file.ts';
import { exportFolder, keysFrom, nameOf } from './stored-export.ts';

export interface StoredExportsOptions {
  readonly store: ObjectStore;
  /** Folder in which copies wait for a slow store. */
  readonly spillFolder: string;
  readonly spillBytesMax: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

/** Failure of the copy of the latest export. */
export interface CopyFailure {
  readonly atMs: number;
  readonly reason: string;
}

const memoryBytes = 4 * 1024 * 1024;
// How long a client waits for the local disk, never for the store: a busy moment should not cost the copy.
const diskWaitMs = 2_000;
// How long a list waits for copies whose downloads have just ended.
const endingWaitMs = 1_000;
// How long copies get to arrive when the process stops, and then to clean up.
const graceMs = 5_000;
const cleanupMs = 3_000;

/** The exports in the object store. A copy of each export goes there while a client downloads it. No client waits for it. */
export class StoredExports implements AsyncDisposable {
  /** The last failure, until a copy succeeds. */
  failure: CopyFailure | undefined;
  readonly #options: StoredExportsOptions;
  readonly #budget: SpillBudget;
  readonly #copying = new Set<Promise<void>>();
  /** Copies whose clients already have the whole file. */
  readonly #ending = new Set<Promise<void>>();
  readonly #shutdown = new AbortController();
  readonly #outcomes: Counter<'outcome'>;

  constructor(options: StoredExportsOptions) {
    this.#options = options;
    this.#budget = { leftBytes: options.spillBytesMax };
    this.#outcomes = countOutcomes(options.metrics, () => this.#copying.size);
  }

  /** The chunks of an export, which also go to the store. The copy stays only if the client gets the whole file. */
  async *copied(file: ExportFile, delivered: Promise<boolean>): AsyncGenerator<Uint8Array> {
    const { spillFolder: folder } = this.#options;
    const copy = new SpillBuffer({ folder, budget: this.#budget, memoryBytes });
    const storing = this.#store(file, copy);
    let isWhole = false;
    let waitLeftMs = diskWaitMs;
    try {
      for await (const chunk of file.chunks) {
        const bytes = Buffer.from(chunk);
        copy.write(bytes);
        yield bytes;
        const waitedAtMs = performance.now();
        await copy.relieved(waitLeftMs);
        waitLeftMs -= performance.now() - waitedAtMs;
      }
      isWhole = true;
    } finally {
      const isWanted = isWhole ? delivered : Promise.resolve(false);
      this.#settle(copy, storing, isWanted).catch(() => undefined);
    }
  }

  /** Newest first. */
  async list(): Promise<StoredObject[]> {
    await this.#settled();
    const objects = await this.#options.store.list(exportFolder);
    return objects.filter(({ key }) => nameOf(key) !== undefined);
  }

  /** The export with a key or a bare name. Throws 404. */
  async find(keyOrName: string): Promise<StoredObject> {
    const name = nameOf(keyOrName);
    if (name === undefined) throw notFound('export', keyOrName);
    await this.#settled();
    const object = await this.#options.store.find(exportFolder + name);
    if (!object) throw notFound('export', keyOrName);
    return object;
  }

  read(object: StoredObject, range?: ByteRange): AsyncIterable<Uint8Array> {
    return this.#options.store.read(object, range);
  }

  /** Throws 404 if there is no such export. */
  async remove(keyOrName: string): Promise<StoredObject> {
    const object = await this.find(keyOrName);
    if (!(await this.#options.store.remove(object.key))) throw notFound('export', keyOrName);
    this.#options.log.info({ key: object.key }, 'stored export deleted');
    return object;
  }

  ping(signal: AbortSignal): Promise<void> {
    return this.#options.store.ping(signal);
  }

  /** Pending copies get some time to arrive. */
  async [Symbol.asyncDispose](): Promise<void> {
    await within(graceMs, this.#copying);
    this.#shutdown.abort();
    await within(cleanupMs, this.#copying);
    await this.#options.store[Symbol.asyncDispose]();
  }

  #store({ startedMs, format }: ExportFile, copy: SpillBuffer): Promise<void> {
    const keys = keysFrom(startedMs, format);
    const { contentType } = format;
    const storing = this.#options.store
      .put(copy, { keys, contentType, signal: this.#shutdown.signal })
      .then(
        (object) => this.#succeed(object),
        (error) => this.#fail(error),
      )
      .finally(async () => {
        this.#copying.delete(storing);
        await copy[Symbol.asyncDispose]();
      });
    this.#copying.add(storing);
    return storing;
  }

  async #settle(copy: SpillBuffer, storing: Promise<void>, isWanted: Promise<boolean>): Promise<void> {
    if (!(await isWanted)) {
      copy.fail(new Unwanted());
      return;
    }
    copy.end();
    this.#ending.add(storing);
    await storing;
    this.#ending.delete(storing);
  }

  #succeed({ key, sizeBytes }: StoredObject): void {
    this.failure = undefined;
    this.#outcomes.inc({ outcome: 'stored' });
    this.#options.log.debug({ key, sizeBytes }, 'export stored');
  }

  #fail(error: unknown): void {
    if (error instanceof Unwanted) {
      this.#outcomes.inc({ outcome: 'unwanted' });
      return;
    }
    const isSlow = error instanceof SpillOverflow;
    const reason = isSlow
      ? 'The object store was too slow.'
      : error instanceof AppError
        ? error.message
        : 'Something went wrong on our side.';
    this.failure = { atMs: this.#options.clock.now(), reason };
    this.#outcomes.inc({ outcome: isSlow ? 'too_slow' : 'failed' });
    const err = error instanceof AppError ? (error.cause ?? error) : error;
    this.#options.log.warn({ err, reason }, 'export not stored');
  }

  /** A client that has just downloaded an export finds it in the list, unless the store is slow. */
  #settled(): Promise<void> {
    return within(endingWaitMs, this.#ending);
  }
}

/** The client disconnected, so the copy is dropped. */
class Unwanted extends Error {}

function countOutcomes(registry: Registry, pending: () => number): Counter<'outcome'> {
  new Gauge({
    name: 'export_copies_under_way',
    help: 'Exports that are being copied to the object store.',
    registers: [registry],
    collect() {
      this.set(pending());
    },
  });
  const outcomes = new Counter({
    name: 'export_copies_total',
    help: 'Copies of exports by outcome; unwanted means that the client disconnected.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  for (const outcome of ['stored', 'failed', 'too_slow', 'unwanted']) outcomes.inc({ outcome }, 0);
  return outcomes;
}

async function within(timeoutMs: number, work: Iterable<Promise<void>>): Promise<void> {
  const all = [...work];
  if (all.length === 0) return;
  const over = new AbortController();
  const timeout = setTimeout(timeoutMs, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([Promise.allSettled(all), timeout]);
  over.abort();
}
