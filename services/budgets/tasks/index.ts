export { deleteTaskFile, readTaskFile, writeTaskFile } from './files.ts';
export { sweepTasks, workOnTasks } from './runner.ts';
export {
  MadeResult,
  type RunningTask,
  Task,
  TaskInput,
  type TaskKind,
  type TaskKinds,
  TaskPatch,
  type TaskType,
  type TaskUndo,
  taskStatuses,
  taskTypes,
  type UndoCount,
  type UndoResult,
} from './task.ts';
export {
  abandonUpload,
  beginUpload,
  completeUpload,
  countFailedTasks,
  countOpenTasks,
  createTask,
  deleteTask,
  getTask,
  listTasks,
  requireUpload,
  retryTask,
  type Tasks,
  taskInput,
  updateTask,
} from './tasks.ts';
export { undoTask } from './undo.ts';
export { errorTable, madeText, skippedTable } from './views.ts';
