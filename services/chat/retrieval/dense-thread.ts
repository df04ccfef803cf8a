import { serveTasks } from '#kit/worker-tasks.ts';
import { scan } from './dense-scan.ts';

const tasks = { scan };

export type DenseTasks = typeof tasks;

serveTasks(tasks);
