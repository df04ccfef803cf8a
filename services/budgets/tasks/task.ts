import { isoTime, type Static, Type } from '@octavo/core';
import { parseRaw } from '@octavo/core/text';
import type { AccountTransaction, Caller, Context } from '../commands.ts';
import { Id, Instant, nullable, text } from '../edges/schemas.ts';
import type { Store, TaskRow } from '../store/tables.ts';

export const taskTypes = ['import', 'export', 'report', 'reindex', 'email', 'rule', 'bulk'] as const;
export type TaskType = (typeof taskTypes)[number];

export const taskStatuses = ['pending', 'running', 'completed', 'failed', 'canceled'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export const Task = Type.Object(
  {
    id: Id,
    type: Type.Enum(taskTypes),
    description: nullable(Type.String()),
    status: Type.Enum(taskStatuses),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent' }),
    result: Type.Unknown({
      description: 'Result by type; null until the task is completed',
      examples: [null],
    }),
    error: nullable(Type.String({ description: 'Why it failed' })),
    attempts: Type.Integer(),
    createdAt: Instant,
    startedAt: nullable(Instant),
    finishedAt: nullable(Instant),
    undoneAt: nullable(Instant),
  },
  { title: 'Task' },
);
export type Task = Static<typeof Task>;

export const TaskInput = Type.Object(
  {
    type: Type.Enum(taskTypes),
    description: Type.Optional(nullable(text(500))),
    report: Type.Optional(
      Type.String({
        description:
          'report, email: by-category, by-payee, by-tag, by-month, trend, top, cash-flow, compare or compare-budgets',
      }),
    ),
    format: Type.Optional(
      Type.String({ description: 'export: csv, ofx, qif or json; import: csv, ofx, qif, camt or mt940' }),
    ),
    from: Type.Optional(Type.String({ description: 'export, report, email: the first day' })),
    to: Type.Optional(Type.String({ description: 'export, report, email: the last day' })),
    budgetId: Type.Optional(
      Type.String({ description: 'import: the budget of all rows; export, report: only this one, or none' }),
    ),
    currency: Type.Optional(
      Type.String({ description: 'import without a budget: the currency of rows that name none' }),
    ),
    content: Type.Optional(Type.String({ description: 'import: the file; larger ones go to /api/import' })),
    mapping: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
    ),
    sign: Type.Optional(Type.String()),
    account: Type.Optional(Type.String()),
    match: Type.Optional(Type.String()),
    incomes: Type.Optional(Type.String({ description: 'import: keep or skip' })),
    dateFormat: Type.Optional(Type.String()),
    decimal: Type.Optional(Type.String()),
    separator: Type.Optional(Type.String()),
    header: Type.Optional(Type.Boolean()),
    skipLines: Type.Optional(Type.Integer()),
    skipEnd: Type.Optional(Type.Integer()),
    dryRun: Type.Optional(Type.Boolean()),
    ruleId: Type.Optional(Type.String({ description: 'rule: the rule that is applied to all expenses' })),
    bulk: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'bulk: filter, and change or delete, as in POST /api/expenses/bulk',
      }),
    ),
  },
  { title: 'TaskInput' },
);
export type TaskInput = Static<typeof TaskInput>;

export const TaskPatch = Type.Object(
  {
    description: Type.Optional(nullable(text(500))),
    status: Type.Optional(Type.Enum(['canceled'], { description: 'Cancels a task that is not finished' })),
  },
  { title: 'TaskPatch' },
);
export type TaskPatch = Static<typeof TaskPatch>;

export const MadeResult = Type.Array(
  Type.Object({
    kind: Type.Enum(['budget', 'rule']),
    id: Id,
    name: Type.String(),
    kept: nullable(Type.String({ description: 'Why it stays; null if it was deleted' })),
  }),
  { description: 'Budgets and rules that the change made; absent if it made none' },
);
export type MadeResult = Static<typeof MadeResult>;

export const UndoResult = Type.Object(
  {
    undone: Type.Integer({ description: 'Expenses that were taken back' }),
    kept: Type.Array(Type.Object({ id: Id, reason: Type.String({ examples: ['it was changed since'] }) }), {
      description: 'Expenses that stay; the first thousand',
    }),
    made: Type.Optional(MadeResult),
  },
  { title: 'UndoResult' },
);
export type UndoResult = Static<typeof UndoResult>;

/** One run of a task. */
export interface RunningTask {
  readonly context: Context;
  readonly caller: Caller;
  readonly taskId: string;
  readonly input: unknown;
  /** Aborts if the task is canceled, or its worker stops. */
  readonly signal: AbortSignal;
  /** Value stored by an earlier attempt with {@link RunningTask.advance}, to go on from there. */
  readonly partial: unknown;
  /**
   * Tells how far it is, in percent, and what a later attempt can go on from: in a transaction if one is given. Throws if the task
   * has been canceled.
   */
  advance(progress: number, partial?: unknown, session?: Store): Promise<void>;
}

/** One type of task. */
export interface TaskKind {
  /** Validates the request, and returns the stored input of {@link TaskKind.run}. Throws `validation_failed`. */
  prepare(context: Context, caller: Caller, given: TaskInput): Promise<PreparedTask>;
  /** Does the work and returns the result. It may run again after a crash. An `AppError` fails the task at once. */
  run(task: RunningTask): Promise<unknown>;
  /** Takes back what a finished task has made; absent if that cannot be. */
  readonly undo?: TaskUndo;
}

export interface UndoCount {
  readonly undone: number;
  readonly kept: number;
}

export interface TaskUndo {
  /** Takes back some of it, and returns how much: 0 if nothing is left. */
  some(transaction: AccountTransaction, taskId: string): Promise<number>;
  /** Counts what it would take back and what would stay or, after it, what stays; absent if that is in the result. */
  count?(context: Context, caller: Caller, taskId: string): Promise<UndoCount>;
  /** Ends it in the last transaction, and lists what stays. */
  end(transaction: AccountTransaction, taskId: string): Promise<Omit<UndoResult, 'undone'>>;
}

export interface PreparedTask {
  readonly input: unknown;
  /** The file that it reads. */
  readonly file?: Uint8Array;
}

export type TaskKinds = Readonly<Record<TaskType, TaskKind>>;

export function toTask(row: TaskRow): Task {
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms));
  return {
    id: row.id,
    type: row.type,
    description: row.description,
    status: row.status,
    progress: row.progress,
    result: row.status === 'completed' && row.result !== null ? parseRaw(row.result) : null,
    error: row.error,
    attempts: row.attempts,
    createdAt: isoTime(row.created_at_ms),
    startedAt: time(row.started_at_ms),
    finishedAt: time(row.finished_at_ms),
    undoneAt: time(row.undone_at_ms),
  };
}
