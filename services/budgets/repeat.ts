import type { Log } from '#kit/log.ts';

/** Runs work again and again, never twice at once. Disposing waits for the current run. */
export function repeat(
  failure: string,
  work: () => Promise<void>,
  { everyMs, log }: { everyMs: number; log: Log },
): AsyncDisposable {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= work()
      .catch((error) => log.error({ err: error }, failure))
      .finally(() => {
        running = undefined;
      });
  }, everyMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}
