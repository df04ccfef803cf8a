import { byteOrderMark } from '@octavo/core/text';
import { count, type FormProblem } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { sendStream } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import { pageRoutes, pathOf } from '../routes.ts';
import {
  callerWithIdempotencyKey,
  filled,
  idOf,
  type PageParts,
  type PageSession,
  parameter,
  submit,
  type Visitor,
} from '../site/page-context.ts';
import { outputOf } from './output.ts';
import { listPage, taskPage, undoPage } from './pages-views.ts';
import type { Task, UndoResult } from './task.ts';
import { createTask, deleteTask, getTask, listTasks, retryTask, type Tasks, updateTask } from './tasks.ts';
import { undoTask } from './undo.ts';
import { madeText } from './views.ts';

const pageSize = 50;

export interface TaskPagesParts extends PageParts {
  readonly tasks: Tasks;
}

/** Work in the background: its progress, and what came of it. */
export function addTaskPages(routes: PageRoutes<PageSession>, parts: TaskPagesParts): void {
  const { context, tasks, visitors: access } = parts;
  const showList = async (visitor: Visitor, problem?: FormProblem) => {
    const cursor = parameter(visitor.visit, 'cursor') || undefined;
    const page = await listTasks(context, visitor.caller, { limit: pageSize, cursor });
    return listPage(visitor, { page, hasCursor: cursor !== undefined, problem });
  };
  routes.get(pageRoutes.tasks, { access }, (visitor) => showList(visitor));
  routes.post(pageRoutes.tasks, { access }, (visitor) => {
    const { visit } = visitor;
    return submit(visit, {
      work: () => createTask(tasks, callerWithIdempotencyKey(visitor), taskIn(filled(visit, ['type']))),
      done: ({ id }) => visit.redirect(pathOf(pageRoutes.task, id)),
      again: (problem) => showList(visitor, problem),
    });
  });
  routes.get(pageRoutes.task, { access }, (visitor) => showTask(visitor, parts));
  routes.get(pageRoutes.undoTask, { access }, async (visitor) => {
    const task = await getTask(context, visitor.caller, idOf(visitor.visit));
    return undoPage(visitor, task, await countOfUndo(visitor, parts, task));
  });
  routes.get(pageRoutes.taskFile, { access }, ({ visit, caller }) => sendFile({ visit, caller }, parts));
  addActions(routes, parts);
}

/** Returns the task that the page may start; all others are for the API. */
function taskIn({ type }: Readonly<Record<string, string>>) {
  return type === 'reindex'
    ? ({ type, description: 'Search index' } as const)
    : ({ type: 'export', format: 'csv', description: 'Export of all expenses' } as const);
}

async function showTask(visitor: Visitor, parts: TaskPagesParts, problem?: FormProblem): Promise<string> {
  const task = await getTask(parts.context, visitor.caller, idOf(visitor.visit));
  const isCut = task.status === 'canceled' || task.status === 'failed';
  const counted = isCut || task.undoneAt !== null ? await countOfUndo(visitor, parts, task) : undefined;
  return taskPage(visitor, task, { problem, counted });
}

async function countOfUndo({ caller }: Visitor, { context, tasks }: TaskPagesParts, { id, type }: Task) {
  return tasks.kinds[type].undo?.count?.(context, caller, id);
}

function addActions(routes: PageRoutes<PageSession>, parts: TaskPagesParts): void {
  const { context, tasks, visitors: access } = parts;
  const act = <T>(
    path: string,
    deed: (visitor: Visitor, id: string) => Promise<T>,
    { after, said }: { after?: string; said?: (result: T) => string } = {},
  ) =>
    routes.post(path, { access }, (visitor) => {
      const { visit } = visitor;
      const id = idOf(visit);
      return submit(visit, {
        work: () => deed(visitor, id),
        done: (result) =>
          visit.redirect(after ?? pathOf(pageRoutes.task, id), said && { tone: 'good', text: said(result) }),
        again: (problem) => showTask(visitor, parts, problem),
      });
    });
  act(pageRoutes.cancelTask, ({ caller }, id) => updateTask(context, caller, id, { status: 'canceled' }));
  act(pageRoutes.retryTask, (visitor, id) => retryTask(tasks, callerWithIdempotencyKey(visitor), id));
  act(
    pageRoutes.undoTask,
    async (visitor, id) => {
      const { type } = await getTask(context, visitor.caller, id);
      return { type, ...(await undoTask(tasks, callerWithIdempotencyKey(visitor), id)) };
    },
    { said: undoneText },
  );
  act(pageRoutes.deleteTask, ({ caller }, id) => deleteTask(context, caller, id), {
    after: pageRoutes.tasks,
  });
}

function undoneText({ type, undone, kept, made }: UndoResult & Pick<Task, 'type'>): string {
  const reason =
    type === 'import' ? 'they were changed since or a later file has them too' : 'they were changed since';
  const stay = kept.length === 0 ? '' : ` ${count(kept.length, 'expense')} stayed, because ${reason}.`;
  const deed = type === 'import' ? 'removed' : `${undone === 1 ? 'is' : 'are'} as before`;
  return `${count(undone, 'expense')} ${deed}.${stay}${madeText(made)}`;
}

async function sendFile(
  { visit, caller }: Pick<Visitor, 'visit' | 'caller'>,
  { context }: TaskPagesParts,
): Promise<FastifyReply> {
  const { headers, chunks } = await outputOf(context, caller, idOf(visit));
  const mark = Buffer.from(headers['content-type']?.startsWith('text/csv') ? byteOrderMark : '');
  const length = Number(headers['content-length']) + mark.length;
  visit.reply.headers({ ...headers, 'content-length': String(length) });
  return sendStream(visit.reply, joined(mark, chunks));
}

async function* joined(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  yield* rest;
}
