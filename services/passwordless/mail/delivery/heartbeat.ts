import type { Clock, Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import {
  countWorkers,
  deleteDeadWorkers,
  deleteFinishedMails,
  deleteWorker,
  type MailTables,
  recordHeartbeat,
} from '../store.ts';

const beatMs = 20_000;
const deadAfterMs = 60_000;
const deletedAfterMs = 86_400_000;
const beatsPerCleanup = 30;

interface HeartbeatParts {
  readonly database: Database<MailTables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly keepMs: number;
}

/** Records that a worker is alive, and deletes old entries of the queue. */
export async function startHeartbeat(worker: string, parts: HeartbeatParts): Promise<AsyncDisposable> {
  const { database, log } = parts;
  let beats = 0;
  const tick = async () => {
    try {
      await recordHeartbeat(database, worker, parts.clock.now());
      if (beats++ % beatsPerCleanup === 0) await deleteOld(parts);
    } catch (error) {
      log.warn({ err: error }, 'the e-mail worker could not store its heartbeat');
    }
  };
  await tick();
  const ticking = runEvery(beatMs, tick);
  return {
    async [Symbol.asyncDispose]() {
      await ticking[Symbol.asyncDispose]();
      await deleteWorker(database, worker).catch(() => {});
    },
  };
}

/** Throws `unavailable` if no worker had a heartbeat within a minute. */
export async function checkWorkers(database: Database<MailTables>, clock: Clock): Promise<void> {
  const { workers = 0 } = (await countWorkers(database, clock.now() - deadAfterMs)) ?? {};
  if (workers === 0) throw new AppError('unavailable', 'no e-mail worker has been alive for a minute');
}

async function deleteOld({ database, clock, keepMs }: HeartbeatParts): Promise<void> {
  const nowMs = clock.now();
  await deleteDeadWorkers(database, nowMs - deletedAfterMs);
  while ((await deleteFinishedMails(database, nowMs - keepMs)) > 0) {}
}
