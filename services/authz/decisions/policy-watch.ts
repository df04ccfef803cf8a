import { type FSWatcher, watch } from 'node:fs';
import type { Log } from '@octavo/core';
import { Counter, type Registry } from 'prom-client';
import type { Policies } from './policies.ts';

export interface WatchOptions {
  readonly policies: Policies;
  readonly folder: string;
  readonly log: Log;
  readonly metrics: Registry;
}

const settleMs = 100;

/** Applies changed policies within moments. Invalid ones change nothing; they are logged and counted. */
export function watchPolicies({ policies, folder, log, metrics }: WatchOptions): Disposable {
  const reloads = new Counter({
    name: 'authz_policy_reloads_total',
    help: 'Reloads of the policy folder by outcome',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  logPolicies('access policies loaded');
  let timer: NodeJS.Timeout | undefined;
  const watcher = watchFolder();

  // The service works without a watch, so a system that has run out of watches must not stop it.
  function watchFolder(): FSWatcher | undefined {
    try {
      return watch(folder, { persistent: false }, settle).on('error', notWatching);
    } catch (error) {
      notWatching(error);
      return undefined;
    }
  }

  function settle(): void {
    clearTimeout(timer);
    timer = setTimeout(reload, settleMs).unref();
  }

  function notWatching(error: unknown): void {
    log.error({ err: error, folder }, 'changes to access policies will not be noticed');
  }

  async function reload(): Promise<void> {
    try {
      if (!(await policies.reload())) return;
      reloads.inc({ outcome: 'ok' });
      logPolicies('access policies changed');
    } catch (error) {
      reloads.inc({ outcome: 'refused' });
      log.error(
        { err: error, folder },
        'changed access policies are invalid; the previous policies stay in force',
      );
    }
  }

  function logPolicies(message: string): void {
    const { ids, version, warnings } = policies;
    if (warnings.length > 0) log.warn({ folder, warnings }, 'access policies have warnings');
    log.info({ folder, ids, policies: version }, message);
  }

  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      watcher?.close();
    },
  };
}
