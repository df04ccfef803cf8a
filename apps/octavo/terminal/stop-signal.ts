import { runEvery } from '@octavo/core/concurrency';

/** Under what the deployment files allow, so that the log says why a process was killed. */
const graceMsDefault = 30_000;

const parentCheckMsDefault = 500;

/**
 * Resolves at the first SIGINT or SIGTERM, or when npm, which started this process, is gone: not every npm passes signals on, and
 * nothing else would stop the process then. A second signal, or the end of the grace time, ends the process at once.
 *
 * It is killed then, because `process.exit` waits for worker threads, and one in a long native step does not see that it should end.
 */
export function stopSignal({
  graceMs = graceMsDefault,
  parentCheckMs = parentCheckMsDefault,
  environment = process.env,
} = {}): Promise<void> {
  return new Promise((resolve) => {
    if (environment.npm_lifecycle_event !== undefined) whenParentIsGone(parentCheckMs, stop);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => kill('stopped by a second signal'));
        stop();
      });
    }

    function stop(): void {
      setTimeout(() => kill(`did not stop within ${graceMs / 1_000} s`), graceMs).unref();
      resolve();
    }
  });
}

/** Returns a warning for an npm that catches SIGTERM without passing it on (npm before 10.3); undefined for any other. */
export function signalHint({ npm_config_user_agent: agent = '' }: NodeJS.ProcessEnv): string | undefined {
  const [, major = '0', minor = '0'] = /^npm\/(\d+)\.(\d+)/.exec(agent) ?? [];
  const isOld =
    agent.startsWith('npm/') && (Number(major) < 10 || (Number(major) === 10 && Number(minor) < 3));
  if (!isOld) return undefined;
  return `npm ${major}.${minor} does not pass on SIGTERM. Let a supervisor run "node apps/octavo/octavo.js up" instead, or update npm.`;
}

/** A process whose parent has ended gets another one. */
function whenParentIsGone(checkMs: number, act: () => void): void {
  const parent = process.ppid;
  const checking = runEvery(checkMs, () => {
    if (process.ppid === parent) return;
    checking[Symbol.dispose]();
    process.stderr.write('octavo: npm has ended, so this process stops too\n');
    act();
  });
}

function kill(why: string): void {
  process.stderr.write(`octavo: ${why}; the process is killed\n`);
  process.kill(process.pid, 'SIGKILL');
}
