import { serveTasks } from '@octavo/core/concurrency';
import { scan } from './scan.ts';

const tasks = { scan };

export type DenseTasks = typeof tasks;

serveTasks(tasks);
