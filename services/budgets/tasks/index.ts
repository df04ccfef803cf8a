export { deleteTaskFile, readTaskFile, writeTaskFile } from './files.ts';
export { sweepTasks, workOnTasks } from './runner.ts';
export {
  Task,
  type TaskContext,
  TaskInput,
  type TaskKind,
  type TaskKinds,
  TaskPatch,
  type TaskType,
  taskStatuses,
  taskTypes,
} from './task.ts';
export {
  abandonUpload,
  beginUpload,
  completeUpload,
  countOpenTasks,
  createTask,
  deleteTask,
  getTask,
  listTasks,
  requireUpload,
  retryTask,
  type Tasks,
  updateTask,
} from './tasks.ts';
export { errorTable, skippedTable } from './views.ts';
