import { serveTasks } from '@octavo/core/concurrency';
import { drawPicture } from './draw.ts';

const tasks = { draw: drawPicture };

export type DrawTasks = typeof tasks;

serveTasks(tasks);
