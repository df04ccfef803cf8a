import { constants, platform, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { serveTasks, type TaskContext } from '@octavo/core/concurrency';
import { silentLog } from '@octavo/core/log';
import { openPostDatabase } from '../database.ts';
import { postText } from './store-filter.ts';

/** Some 20 ms of work, in which other processes and threads cannot write. */
const batchRows = 200;
/** Longer than others wait between two attempts to write. */
const restMs = 4;

// Only Linux has a priority for each thread.
if (platform() === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const { folder } = workerData as { folder: string };
const database = await openPostDatabase({ url: undefined, folder, log: silentLog });

const tasks = {
  /** Indexes all posts that wait. */
  index: async (_input: undefined, { signal }: TaskContext): Promise<void> => {
    while (!signal.aborted && (await postText.hasPending(database))) {
      // A batch that the disk did not keep is pending again.
      await database.write((session) => postText.indexPending(session, batchRows), { mayBeLost: true });
      await delay(restMs);
    }
  },
};

export type IndexTasks = typeof tasks;

serveTasks(tasks, { close: async () => database[Symbol.asyncDispose]() });
