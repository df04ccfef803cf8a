import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from './client.ts';
import type { Engines } from './engines.ts';
import type { Ledger } from './ledger.ts';

/** Context of all workloads. */
export interface Stage {
  readonly ledger: Ledger;
  readonly engines: Engines;
  /** Mark of this run in texts. */
  readonly mark: string;
  /** Aborts after the day, when readers are not followed any longer. */
  readonly over: AbortSignal;
  clientOf(service: string): Client;
  /** Address of the gRPC of one of the replicas of a service. */
  grpcAddressOf(service: string): string;
  /** Number of times that the processes of a service were ended. */
  endsOf(service: string): number;
  /** Runs a command of `octavo` in the environment of the system, and returns its exit status. */
  octavo(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<number>;
}

/** One kind of work of a client, over and over. */
export interface Workload {
  readonly name: string;
  /** True for work at long intervals, which tells little about the time of recovery. */
  readonly isRare?: boolean;
  /** True if it was done, with all that follows from it; false if it was refused or is unknown. */
  step(): Promise<boolean>;
  /** Compares the ledger with what is there, after the day. */
  verify?(): Promise<void>;
}

const pauseMs = 50;

/** Runs a workload, and knows when it succeeded. */
export class Worker {
  readonly workload: Workload;
  readonly #ledger: Ledger;
  readonly #successes: { readonly startedMs: number; readonly endedMs: number }[] = [];
  #isOver = false;
  #ended: Promise<void> | undefined;
  /** The longest time without a success. */
  longestSilenceMs = 0;
  done = 0;

  constructor(workload: Workload, ledger: Ledger) {
    this.workload = workload;
    this.#ledger = ledger;
  }

  start(): void {
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  /** The end of the first success that began after a time; undefined until there is one. */
  successAfter(startMs: number): number | undefined {
    return this.#successes.find(({ startedMs }) => startedMs >= startMs)?.endedMs;
  }

  async #run(): Promise<void> {
    let lastMs = performance.now();
    while (!this.#isOver) {
      const startedMs = performance.now();
      const isDone = await this.workload.step().catch((error: Error) => {
        this.#ledger.report(`${this.workload.name}: ${error.stack ?? error}`);
        return false;
      });
      const endedMs = performance.now();
      if (isDone) {
        this.done++;
        this.longestSilenceMs = Math.max(this.longestSilenceMs, endedMs - lastMs);
        lastMs = endedMs;
        this.#successes.push({ startedMs, endedMs });
        if (this.#successes.length > 1_000) this.#successes.splice(0, 500);
      }
      await delay(pauseMs);
    }
  }
}

/** Looks until the result is true, or the time is over. */
export async function soon(look: () => Promise<boolean>, patienceMs = 60_000): Promise<boolean> {
  const endMs = performance.now() + patienceMs;
  while (performance.now() < endMs) {
    if (await look()) return true;
    await delay(100);
  }
  return false;
}
