import { isoTime, type Static, Type } from '@octavo/core';
import { parseRaw } from '@octavo/core/text';
import type { Caller, Context } from '../commands.ts';
import { Id, Instant, nullable, text } from '../edges/schemas.ts';
import type { Store, TaskRow } from '../store/tables.ts';

export const taskTypes = ['import', 'export', 'report', 'reindex', 'email'] as const;
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
  },
  { title: 'Task' },
);
export type Task = Static<typeof Task>;

export const TaskInput = Type.Object(
  {
    type: Type.Enum(taskTypes),
    description: Type.Optional(nullable(text(500))),
    report: Type.Optional(Type.String({ description: 'report, email: by-category, by-month, trend or top' })),
    format: Type.Optional(
      Type.String({ description: 'export: csv, ofx, qif or json; import: csv, ofx, qif, camt or mt940' }),
    ),
    from: Type.Optional(Type.String({ description: 'export, report, email: the first day' })),
    to: Type.Optional(Type.String({ description: 'export, report, email: the last day' })),
    budgetId: Type.Optional(
      Type.String({ description: 'import: the budget; export, report: only this one' }),
    ),
    content: Type.Optional(Type.String({ description: 'import: the file; larger ones go to /api/import' })),
    mapping: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
    ),
    sign: Type.Optional(Type.String()),
    dateFormat: Type.Optional(Type.String()),
    decimal: Type.Optional(Type.String()),
    separator: Type.Optional(Type.String()),
    header: Type.Optional(Type.Boolean()),
    skipLines: Type.Optional(Type.Integer()),
    skipEnd: Type.Optional(Type.Integer()),
    dryRun: Type.Optional(Type.Boolean()),
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

/** Context of a running task. */
export interface TaskContext {
  readonly core: Context;
  readonly caller: Caller;
  readonly taskId: string;
  readonly input: unknown;
  /** Aborts if the task is canceled, or its worker stops. */
  readonly signal: AbortSignal;
  /** Value stored by an earlier attempt with {@link TaskContext.advance}, to go on from there. */
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
  prepare(core: Context, caller: Caller, given: TaskInput): Promise<PreparedTask>;
  /** Does the work and returns the result. It may run again after a crash. An `AppError` fails the task at once. */
  run(context: TaskContext): Promise<unknown>;
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
  };
}
