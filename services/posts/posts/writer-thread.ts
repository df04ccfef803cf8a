import { workerData } from 'node:worker_threads';
import { serveTasks } from '@octavo/core/concurrency';
import { silentLog } from '@octavo/core/log';
import { openPostDatabase } from '../database.ts';
import { type BulkCreation, type Creation, createMany, createPosts } from './create.ts';

const { folder } = workerData as { folder: string };
const database = await openPostDatabase({ url: undefined, folder, log: silentLog });

const tasks = {
  create: (creation: Creation) => createPosts(database, creation),
  createMany: (creation: BulkCreation) => createMany(database, creation),
};

export type WriterTasks = typeof tasks;

serveTasks(tasks, { close: async () => database[Symbol.asyncDispose]() });
