import { Type } from '@octavo/core';
import { addResource, IdempotencyHeader, IdParams } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import { sendStream } from '@octavo/web/server';
import { callerOf, callerWithIdempotencyKey, owned } from '../edges/api-access.ts';
import { accepted } from '../edges/api-responses.ts';
import { routes } from '../routes.ts';
import { outputOf } from './output.ts';
import { Task, TaskInput, TaskPatch, UndoResult } from './task.ts';
import { createTask, deleteTask, getTask, listTasks, retryTask, type Tasks, updateTask } from './tasks.ts';
import { undoTask } from './undo.ts';

const tag = 'Tasks';

export function addTaskApi(app: HttpApp, tasks: Tasks, access: AccessRule): void {
  const { context } = tasks;
  addResource(app, {
    ...owned(access),
    name: 'Task',
    tag,
    paths: { list: routes.tasks, item: routes.task },
    schema: Task,
    list: {
      summary: 'Your tasks, newest first',
      description: 'Lists your imports, exports, reports and other tasks, with their progress.',
      run: (caller, query) => listTasks(context, caller, query),
    },
    get: {
      summary: 'A task',
      description: 'Reads the status, the progress and the result of one of your tasks.',
      run: (caller, id) => getTask(context, caller, id),
    },
    create: {
      summary: 'Queue a task',
      description: 'Queues a task, which runs in the background. A file that cannot be read gives 422.',
      body: TaskInput,
      status: 202,
      errors: ['forbidden', 'not_found', 'unprocessable'],
      run: (caller, body) => createTask(tasks, caller, body),
    },
    change: {
      summary: 'Change the description of a task, or cancel it',
      description: 'Changes the description, or cancels the task. Canceling a finished task gives 409.',
      body: TaskPatch,
      errors: ['conflict'],
      run: (caller, id, change) => updateTask(context, caller, id, change),
    },
    remove: {
      summary: 'Delete a finished task',
      description: 'Deletes a task and its files. One that is not finished gives 409.',
      errors: ['conflict'],
      run: (caller, id) => deleteTask(context, caller, id),
    },
  });
  addActions(app, tasks, access);
}

function addActions(app: HttpApp, tasks: Tasks, access: AccessRule): void {
  app.post(
    routes.taskRetry,
    {
      access,
      schema: {
        operationId: 'retryTask',
        summary: 'Run a task again that failed or was canceled',
        description: 'Queues the task once more. Any other status gives 409.',
        tags: [tag],
        params: IdParams,
        headers: IdempotencyHeader,
        response: { 202: Task },
      },
      config: { errors: ['forbidden', 'not_found', 'conflict', 'rate_limited'] },
    },
    async (request, reply) =>
      accepted(reply, await retryTask(tasks, callerWithIdempotencyKey(request, reply), request.params.id)),
  );
  app.post(
    routes.taskUndo,
    {
      access,
      schema: {
        operationId: 'undoTask',
        summary: 'Take back what an import has made',
        description:
          'Deletes the expenses that an import has added, unless they were changed since. Those that stay are listed with the reason. Once; another time gives 409, as does a task that is not finished or is no import.',
        tags: [tag],
        params: IdParams,
        headers: IdempotencyHeader,
        response: { 200: UndoResult },
      },
      config: { errors: ['forbidden', 'not_found', 'conflict', 'rate_limited'] },
    },
    async (request, reply) => undoTask(tasks, callerWithIdempotencyKey(request, reply), request.params.id),
  );
  app.get(
    routes.taskFile,
    {
      access,
      schema: {
        operationId: 'getTaskFile',
        summary: 'The file that an export has written',
        description: 'Downloads the file of a completed export. Any other task gives 404.',
        tags: [tag],
        params: IdParams,
        response: {
          200: {
            description: 'The file',
            content: { 'application/octet-stream': { schema: Type.String() } },
          },
        },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    async (request, reply) => {
      const { headers, chunks } = await outputOf(tasks.context, callerOf(request), request.params.id);
      reply.headers(headers);
      return await sendStream(reply, chunks);
    },
  );
}
