import { isoDay, Type } from '@octavo/core';
import { numberedScope } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { createParser } from '../edges/schema-parser.ts';
import { Day, Reference } from '../edges/schemas.ts';
import { checkRange } from '../expenses/index.ts';
import { type RunningTask, type TaskInput, type TaskKind, writeTaskFile } from '../tasks/index.ts';
import { type ExportedRow, type ExportFormat, exportFormats, writerOf } from './formats.ts';
import { exportedExpenses } from './store.ts';

export const ExportRequest = Type.Object({
  format: Type.Enum(exportFormats, { default: 'csv' }),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  budgetId: Type.Optional(Reference),
  safe: Type.Enum(['0', '1'], {
    default: '1',
    description: 'CSV: 0 leaves out the apostrophe before text that a spreadsheet would run as a formula',
  }),
});

const parseExportRequest = createParser(ExportRequest);

export interface ExportRequest {
  readonly format: ExportFormat;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly budgetId?: string | undefined;
  readonly safe?: '0' | '1' | undefined;
}

/** A file of expenses that is written while it is read, from one snapshot. */
export interface ExportFile {
  readonly name: string;
  readonly mediaType: string;
  readonly chunks: AsyncIterable<string>;
}

const batchRows = 1_000;

/** Throws `not_found` for a budget of another user. */
export async function exportExpenses(
  { db, clock }: Context,
  caller: Caller,
  { format, from, to, budgetId, safe }: ExportRequest,
  options: { readonly signal?: AbortSignal; readonly onRows?: (count: number) => void } = {},
): Promise<ExportFile> {
  checkRange(from, to);
  const { owner, budgets } = await numberedScope(db, caller.owner, budgetId);
  const nowMs = clock.now();
  const today = isoDay(nowMs);
  const writer = writerOf(format, {
    from: from ?? '1970-01-01',
    to: to ?? today,
    nowMs,
    isSafe: safe !== '0',
  });
  const days = { from: from ?? '0000-01-01', to: to ?? '9999-12-31' };
  const rows = exportedExpenses(db, { owner, ...days, budgets }, writer.isByBudget);
  const { signal, onRows } = options;
  async function* chunks(): AsyncGenerator<string> {
    // With the first rows, so that a database that cannot be read is an error response.
    let head = writer.head();
    for await (const batch of db.stream(rows, { batchRows, signal })) {
      onRows?.(batch.length);
      yield head + writer.rows(batch as ExportedRow[]);
      head = '';
    }
    yield head + writer.tail();
  }
  return { name: `expenses-${today}.${format}`, mediaType: writer.mediaType, chunks: chunks() };
}

/** Exports as tasks, whose file can be fetched when they are completed. */
export const exportTask: TaskKind = {
  async prepare({ db }: Context, { owner }: Caller, { format, from, to, budgetId }: TaskInput) {
    const given = Object.entries({ format, from, to, budgetId }).filter(([, value]) => value !== undefined);
    const input = parseExportRequest(Object.fromEntries(given));
    checkRange(input.from, input.to);
    await numberedScope(db, owner, input.budgetId);
    return { input };
  },
  async run({ context, caller, taskId, input, signal }: RunningTask) {
    const request = input as ExportRequest;
    let expenses = 0;
    const onRows = (count: number) => {
      expenses += count;
    };
    const { name, mediaType, chunks } = await exportExpenses(context, caller, request, { signal, onRows });
    const file = { owner: caller.owner, taskId, name: 'output' } as const;
    const bytes = await writeTaskFile(context, file, encoded(chunks));
    return { format: request.format, expenses, name, mediaType, bytes };
  },
};

async function* encoded(chunks: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}
