import { workerData } from 'node:worker_threads';
import { serveTasks } from '@octavo/core/concurrency';
import { silentLog } from '@octavo/core/log';
import { openPostDatabase } from '../database.ts';
import type { PageRequest } from './request.ts';
import { readPage } from './store.ts';

const { folder } = workerData as { folder: string };
const database = await openPostDatabase({ url: undefined, folder, log: silentLog });

const tasks = {
  page: (request: PageRequest) => database.read((session) => readPage(session, request)),
};

export type PageTasks = typeof tasks;

serveTasks(tasks, { close: async () => database[Symbol.asyncDispose]() });
