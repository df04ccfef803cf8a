import type { Log } from '../base/log.ts';

interface RunEveryOptions {
  /** Log of failures. Without one, work must handle its own errors. */
  readonly log?: Log;
  /** The message for a run that failed, such as `expired rows were not deleted`. */
  readonly failure?: string;
  /** True for a first run right now. */
  readonly startsNow?: boolean;
}

/**
 * Runs work regularly until disposed of, never twice at once: a tick during a run is skipped. The timer does not keep the process
 * alive. `await using` and `stack.use` also wait for the current run; `using` does not.
 */
export function runEvery(
  everyMs: number,
  work: () => unknown,
  { log, failure, startsNow = false }: RunEveryOptions = {},
): Disposable & AsyncDisposable {
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!log) throw error;
      log.warn({ err: error }, failure);
    }
  };
  const tick = (): void => {
    running ??= run().finally(() => {
      running = undefined;
    });
  };
  const timer = setInterval(tick, everyMs).unref();
  if (startsNow) tick();
  return {
    [Symbol.dispose]: () => clearInterval(timer),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}
