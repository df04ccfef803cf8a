/** Under what the deployment files allow, so that the log says why a process was killed. */
const graceMsDefault = 30_000;

/**
 * Resolves at the first SIGINT or SIGTERM. A second one, or the end of the grace time, ends the process at once.
 *
 * It is killed then, because `process.exit` waits for worker threads, and one in a long native step does not see that it should end.
 */
export function stopSignal(graceMs = graceMsDefault): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => kill('stopped by a second signal'));
        setTimeout(() => kill(`did not stop within ${graceMs / 1_000} s`), graceMs).unref();
        resolve();
      });
    }
  });
}

function kill(why: string): void {
  process.stderr.write(`octavo: ${why}; the process is killed\n`);
  process.kill(process.pid, 'SIGKILL');
}
