import { serveTasks } from '../concurrency/worker-tasks.ts';
import { drawPicture } from './draw.ts';

const tasks = { draw: drawPicture };

export type DrawTasks = typeof tasks;

serveTasks(tasks);
