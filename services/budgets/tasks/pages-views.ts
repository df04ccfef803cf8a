import { numberText, type RawJson } from '@octavo/core/text';
import type { FormProblem } from '@octavo/web/html';
import {
  badge,
  type Content,
  card,
  confirm,
  count,
  empty,
  facts,
  formatNumber,
  type Html,
  html,
  linkButton,
  notice,
  progress,
  stats,
  type Tone,
  table,
  time,
} from '@octavo/web/html';
import type { Page } from '@octavo/web/rest';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { cursorPager, hrefWith, problems } from '../site/views.ts';
import type { Task, TaskStatus, UndoCount } from './task.ts';
import { errorTable, type RowError, skippedTable } from './views.ts';

const tones: Readonly<Record<TaskStatus, Tone | 'plain'>> = {
  pending: 'info',
  running: 'info',
  completed: 'good',
  failed: 'bad',
  canceled: 'plain',
};

interface ListView {
  readonly page: Page<Task>;
  readonly hasCursor: boolean;
  readonly problem: FormProblem | undefined;
}

export function listPage(visitor: Visitor, { page, hasCursor, problem }: ListView): Promise<string> {
  const { csrfField } = visitor;
  const start = (type: string, label: string) =>
    html`<form method="post" action="${pageRoutes.tasks}">${csrfField}${onceField()}<input type="hidden" name="type" value="${type}"><button class="secondary">${label}</button></form>`;
  return visitor.render({
    title: 'Tasks',
    lead: 'Imports, exports and other work that runs in the background.',
    actions: html`${linkButton(pageRoutes.import, 'Import')}${start('export', 'Export everything')}${start('reindex', 'Rebuild the search index')}`,
    modules: ['live.js'],
    main: html`${problems(problem, {})}<div data-live-region="tasks">${
      page.total === 0
        ? empty({
            icon: 'pulse',
            title: 'No tasks yet',
            text: 'Imports and exports appear here, with their progress and result.',
          })
        : html`${taskTable(page.items)}${cursorPager(pageRoutes.tasks, {}, { next: page.next, hasCursor })}`
    }</div>`,
  });
}

function taskTable(rows: readonly Task[]): Html {
  return table<Task>({
    caption: 'Tasks, newest first',
    rows,
    columns: [
      {
        header: 'Task',
        kind: 'main',
        cell: ({ id, type, description }) =>
          html`<a href="${pathOf(pageRoutes.task, id)}">${description ?? type}</a><div>${type}</div>`,
      },
      {
        header: 'Status',
        kind: 'fit',
        cell: ({ status, progress: percent }) =>
          html`${badge(tones[status], status)}${status === 'running' && ` ${percent}%`}`,
      },
      { header: 'Created', kind: 'plain', cell: ({ createdAt }) => time(createdAt) },
    ],
  });
}

/** A task with its progress. Without scripts, it loads itself again until the task has ended. */
export function taskPage(
  visitor: Visitor,
  task: Task,
  {
    problem,
    counted,
  }: { readonly problem?: FormProblem | undefined; readonly counted: UndoCount | undefined },
): Promise<string> {
  const { type, description, status, createdAt, startedAt, finishedAt, undoneAt, attempts } = task;
  const isOpen = status === 'pending' || status === 'running';
  if (isOpen) visitor.visit.reply.header('refresh', '2');
  return visitor.render({
    title: description ?? `${type.slice(0, 1).toUpperCase()}${type.slice(1)}`,
    parent: { href: pageRoutes.tasks, label: 'Tasks' },
    modules: ['live.js'],
    main: html`${problem && problems({ ...problem, problem: problem.problem ?? `This task is ${status}.`, errors: {} }, {})}<div class="beside" data-live-region="task"><div class="stack">${
      isOpen &&
      progress({
        label: status === 'pending' ? 'Waiting to start' : 'Running',
        value: task.progress,
        detail: `${task.progress}%`,
      })
    }${status === 'failed' && notice('bad', html`${task.error ?? 'It failed.'}${counted && undoneAt === null && ` ${doneText(counted)}`}`, { title: 'This task failed' })}${
      status === 'canceled' &&
      undoneAt === null &&
      notice('info', `This task was canceled. ${doneText(counted)}`)
    }${undoneAt !== null && notice('info', type === 'import' ? 'The expenses that this import added were removed, except those that were changed since.' : 'The expenses are as they were before, except those that were changed since.', { title: `This ${nameOf(type)} was undone` })}${counted !== undefined && counted.kept > 0 && html`<p>${count(counted.kept, 'expense')} stayed. ${linkButton(hrefWith(pageRoutes.expenses, { import: task.id }), 'See what stayed', 'primary')}</p>`}${resultOf(task)}</div><aside>${card(
      'About this task',
      html`${facts([
        ['Status', badge(tones[status], status)],
        ['Kind', type],
        ['Created', time(createdAt)],
        ...(startedAt === null ? [] : [['Started', time(startedAt)] as const]),
        ...(finishedAt === null ? [] : [['Finished', time(finishedAt)] as const]),
        ...(undoneAt === null ? [] : [['Undone', time(undoneAt)] as const]),
        ...(attempts > 1 ? [['Attempts', attempts] as const] : []),
      ])}<div class="actions">${actionsOf(visitor, task)}</div>`,
    )}</aside></div>`,
  });
}

/** Number of rows that a task had added when it was cut off. */
function doneText(counted: UndoCount | undefined): string {
  if (!counted) return 'What it had done before stays.';
  const added = counted.undone + counted.kept;
  return added === 0
    ? 'It had added nothing.'
    : `${count(added, 'row')} that it had added ${added === 1 ? 'stays' : 'stay'}.`;
}

function actionsOf({ csrfField }: Visitor, { id, type, status, undoneAt }: Task): Html {
  const button = (route: string, label: string) =>
    html`<form method="post" action="${pathOf(route, id)}">${csrfField}${onceField()}<button class="secondary">${label}</button></form>`;
  if (status === 'pending' || status === 'running') return button(pageRoutes.cancelTask, 'Cancel');
  const retry = status === 'failed' || status === 'canceled';
  const undo = ['import', 'rule', 'bulk'].includes(type) && undoneAt === null;
  return html`${retry && button(pageRoutes.retryTask, 'Try again')}${undo && html`<a class="button secondary" href="${pathOf(pageRoutes.undoTask, id)}" data-dialog>Undo this ${nameOf(type)}</a>`}${button(pageRoutes.deleteTask, 'Delete this task')}`;
}

function nameOf(type: Task['type']): string {
  return type === 'import' ? type : 'change';
}

/** Asks before a task is undone. */
export function undoPage(visitor: Visitor, task: Task, counted: UndoCount | undefined): Promise<string> {
  const name = nameOf(task.type);
  const href = pathOf(pageRoutes.task, task.id);
  const { changed = 0 } = (task.result ?? {}) as Result;
  const undone = counted?.undone ?? changed;
  const effect =
    task.type === 'import'
      ? `${count(undone, 'row')} that it added ${undone === 1 ? 'is' : 'are'} removed, and the ledger records reversals.`
      : `${count(undone, 'expense')} ${undone === 1 ? 'becomes' : 'become'} as before, except those that were changed since.`;
  const kept = counted?.kept ?? 0;
  const stays =
    kept > 0
      ? ` ${count(kept, 'expense')} changed since, or found in a later file, ${kept === 1 ? 'stays. You can delete it' : 'stay. You can delete them'} afterwards.`
      : '';
  return visitor.render({
    title: `Undo this ${name}`,
    parent: { href, label: 'Task' },
    main: confirm({
      title: `Undo this ${name}?`,
      text: `${effect}${stays} This can be done once.`,
      action: pathOf(pageRoutes.undoTask, task.id),
      csrfField: visitor.csrfField,
      fields: onceField(),
      deed: `Undo this ${name}`,
      cancelHref: href,
    }),
  });
}

type ReportCells = Readonly<Record<string, string | number | RawJson | null>>;

/** Results of imports, exports and reports. */
interface Result {
  readonly total?: number;
  readonly created?: number;
  readonly refunds?: number;
  readonly incomes?: number;
  readonly duplicates?: number;
  readonly matched?: number;
  /** A number in results of older versions. */
  readonly skipped?: number | readonly { readonly line: number; readonly reason: string }[];
  readonly failed?: number;
  readonly errors?: readonly RowError[];
  readonly name?: string;
  readonly expenses?: number;
  readonly rows?: readonly ReportCells[];
  readonly changed?: number;
  readonly kept?: readonly { readonly reason: string }[];
}

function resultOf({ id, type, result, undoneAt }: Task): Content {
  if (result === null) return undefined;
  const found = result as Result;
  if (type === 'import') return importResult({ ...found, isUndone: undoneAt !== null });
  if (found.name !== undefined)
    return html`${notice('good', `${count(found.expenses ?? 0, 'expense')} in ${found.name}.`, { title: 'The file is ready' })}<p class="actions"><a class="button primary" href="${pathOf(pageRoutes.taskFile, id)}" download>Download</a></p>`;
  if (found.rows !== undefined) return reportTable(found.rows);
  if (found.changed === undefined) return notice('good', 'Done.');
  const { changed, kept = [] } = found;
  const stays = kept[0] && ` ${count(kept.length, 'expense')} could not be: ${kept[0].reason}.`;
  return notice(
    'good',
    `${count(changed, 'expense')} ${changed === 1 ? 'was' : 'were'} changed.${stays ?? ''}`,
  );
}

function importResult({
  total = 0,
  created = 0,
  refunds = 0,
  incomes = 0,
  duplicates = 0,
  matched = 0,
  skipped = [],
  failed = 0,
  errors = [],
  isUndone,
}: Result & { readonly isUndone: boolean }): Html {
  return html`${failed > 0 && notice('warn', 'All others were read.', { title: `${count(failed, 'line')} could not be read` })}<p class="muted">${count(total, 'row')} in the file.</p>${stats(
    [
      { label: 'Added', value: formatNumber(created) },
      ...(refunds > 0 ? [{ label: 'Of these, refunds', value: formatNumber(refunds) }] : []),
      ...(incomes > 0 ? [{ label: 'Of these, income', value: formatNumber(incomes) }] : []),
      { label: 'Already imported', value: formatNumber(duplicates) },
      ...(matched > 0 ? [{ label: 'Typed before', value: formatNumber(matched) }] : []),
      { label: 'Skipped', value: formatNumber(total - created - duplicates - matched - failed) },
      { label: 'Failed', value: formatNumber(failed) },
    ],
  )}${errors.length > 0 && errorTable(errors)}${typeof skipped !== 'number' && skipped.length > 0 && skippedTable(skipped)}${created > incomes && !isUndone && html`<p class="actions">${linkButton(pageRoutes.sortExpenses, 'Sort by payee', 'primary')}</p>`}`;
}

function reportTable(rows: readonly ReportCells[]): Html {
  const names = Object.keys(rows[0] ?? {});
  const textOf = (cell: ReportCells[string] = null) =>
    typeof cell === 'string' ? cell : cell === null ? '' : numberText(cell);
  return table<ReportCells>({
    caption: 'Report',
    rows,
    columns: names.map((name) => ({ header: name, cell: (row) => textOf(row[name]) })),
  });
}
