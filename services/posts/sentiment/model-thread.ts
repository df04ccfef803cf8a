import { platform, setPriority } from 'node:os';
import { serveTasks } from '@octavo/core/concurrency';
import { loadModel } from './model/model.ts';

// A little behind requests, but not so far that a busy machine never gets to it. Only Linux has a priority for each thread.
if (platform() === 'linux') setPriority(3);

const model = loadModel();

const tasks = {
  classify: (texts: readonly string[]) => texts.map((text) => model.classify(text)),
};

export type ModelTasks = typeof tasks;

serveTasks(tasks);
