import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { sendStream } from '#kit/http/stream.ts';
import { Type } from '#kit/schema.ts';
import { callerOf, commanderOf } from '../api-access.ts';
import { accepted, listed } from '../api-responses.ts';
import { IdempotencyHeader } from '../idempotency-key.ts';
import { routes } from '../routes.ts';
import { Deleted, IdParams, listQuery } from '../schemas.ts';
import { outputOf } from './output.ts';
import { Task, TaskInput, TaskPatch } from './task.ts';
import { createTask, deleteTask, getTask, listTasks, retryTask, type Tasks, updateTask } from './tasks.ts';

const tags = ['Tasks'];

export function addTaskApi(app: HttpApp, tasks: Tasks, access: AccessRule): void {
  addLists(app, tasks, access);
  addOne(app, tasks, access);
  addActions(app, tasks, access);
}

function addLists(app: HttpApp, tasks: Tasks, access: AccessRule): void {
  app.get(
    routes.tasks,
    {
      access,
      schema: {
        operationId: 'listTasks',
        summary: 'Your tasks, newest first',
        tags,
        querystring: Type.Object(listQuery),
        response: { 200: Type.Array(Task) },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request, reply) =>
      listed(request, reply, await listTasks(tasks.core, callerOf(request), request.query)),
  );
  app.post(
    routes.tasks,
    {
      access,
      schema: {
        operationId: 'createTask',
        summary: 'Queue a task',
        tags,
        headers: IdempotencyHeader,
        body: TaskInput,
        response: { 202: Task },
      },
      config: { errors: ['not_found', 'conflict', 'unprocessable', 'rate_limited'] },
    },
    async (request, reply) =>
      accepted(reply, await createTask(tasks, commanderOf(request, reply), request.body)),
  );
}

function addOne(app: HttpApp, { core }: Tasks, access: AccessRule): void {
  app.get(
    routes.task,
    {
      access,
      schema: {
        operationId: 'getTask',
        summary: 'A task',
        tags,
        params: IdParams,
        response: { 200: Task },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    (request) => getTask(core, callerOf(request), request.params.id),
  );
  app.put(
    routes.task,
    {
      access,
      schema: {
        operationId: 'updateTask',
        summary: 'Change the description of a task, or cancel it',
        tags,
        params: IdParams,
        body: TaskPatch,
        response: { 200: Task },
      },
      config: { errors: ['not_found', 'conflict', 'rate_limited'] },
    },
    (request) => updateTask(core, callerOf(request), request.params.id, request.body),
  );
  app.delete(
    routes.task,
    {
      access,
      schema: {
        operationId: 'deleteTask',
        summary: 'Delete a finished task',
        tags,
        params: IdParams,
        response: { 200: Deleted },
      },
      config: { errors: ['not_found', 'conflict', 'rate_limited'] },
    },
    (request) => deleteTask(core, callerOf(request), request.params.id),
  );
}

function addActions(app: HttpApp, tasks: Tasks, access: AccessRule): void {
  app.post(
    routes.taskRetry,
    {
      access,
      schema: {
        operationId: 'retryTask',
        summary: 'Run a task again that failed or was canceled',
        tags,
        params: IdParams,
        headers: IdempotencyHeader,
        response: { 202: Task },
      },
      config: { errors: ['not_found', 'conflict', 'rate_limited'] },
    },
    async (request, reply) =>
      accepted(reply, await retryTask(tasks, commanderOf(request, reply), request.params.id)),
  );
  app.get(
    routes.taskFile,
    {
      access,
      schema: {
        operationId: 'getTaskFile',
        summary: 'The file that an export has written',
        tags,
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
      const { headers, chunks } = await outputOf(tasks.core, callerOf(request), request.params.id);
      reply.headers(headers);
      return (await sendStream(reply, chunks)) as never;
    },
  );
}
