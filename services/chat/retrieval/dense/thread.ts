import { serveTasks } from '#kit/concurrency/worker-tasks.ts';
import { scan } from './scan.ts';

const tasks = { scan };

export type DenseTasks = typeof tasks;

serveTasks(tasks);
