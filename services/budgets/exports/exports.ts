import { isoDay } from '#kit/iso-time.ts';
import { Type } from '#kit/schema.ts';
import { createParser } from '#kit/schema-parser.ts';
import type { Caller, Core } from '../commands.ts';
import { checkRange } from '../expenses/index.ts';
import { Day } from '../schemas.ts';
import { type TaskContext, type TaskInput, type TaskKind, writeTaskFile } from '../tasks/index.ts';
import { type ExportedRow, type ExportFormat, exportFormats, writerOf } from './formats.ts';
import { expensesByBudget, expensesByDay } from './store.ts';

export const ExportRequest = Type.Object({
  format: Type.Enum(exportFormats, { default: 'csv' }),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
});

const parseExportRequest = createParser(ExportRequest);

export interface ExportRequest {
  readonly format: ExportFormat;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A file of the caller's expenses that is written while it is read, from one snapshot. */
export interface ExportFile {
  readonly name: string;
  readonly mediaType: string;
  readonly chunks: AsyncIterable<string>;
}

const batchRows = 1_000;

export function exportExpenses(
  { db, clock }: Core,
  { owner }: Caller,
  { format, from, to }: ExportRequest,
  options: { readonly signal?: AbortSignal; readonly onRows?: (count: number) => void } = {},
): ExportFile {
  checkRange(from, to);
  const nowMs = clock.now();
  const today = isoDay(nowMs);
  const writer = writerOf(format, { from: from ?? '1970-01-01', to: to ?? today, nowMs });
  const range = { owner, from: from ?? '0000-01-01', to: to ?? '9999-12-31' };
  const rows = writer.isByBudget ? expensesByBudget : expensesByDay;
  const { signal, onRows } = options;
  async function* chunks(): AsyncGenerator<string> {
    yield writer.head();
    for await (const batch of db.stream(rows, range, { batchRows, signal })) {
      onRows?.(batch.length);
      yield writer.rows(batch as ExportedRow[]);
    }
    yield writer.tail();
  }
  return { name: `expenses-${today}.${format}`, mediaType: writer.mediaType, chunks: chunks() };
}

/** Exports as tasks, whose file can be fetched when they are completed. */
export const exportTask: TaskKind = {
  async prepare(_core: Core, _caller: Caller, { format, from, to }: TaskInput) {
    const given = Object.entries({ format, from, to }).filter(([, value]) => value !== undefined);
    const input = parseExportRequest(Object.fromEntries(given));
    checkRange(input.from, input.to);
    return { input };
  },
  async run({ core, caller, taskId, input, signal }: TaskContext) {
    const request = input as ExportRequest;
    let expenses = 0;
    const onRows = (count: number) => {
      expenses += count;
    };
    const { name, mediaType, chunks } = exportExpenses(core, caller, request, { signal, onRows });
    const file = { owner: caller.owner, taskId, name: 'output' } as const;
    const bytes = await writeTaskFile(core, file, encoded(chunks));
    return { format: request.format, expenses, name, mediaType, bytes };
  },
};

async function* encoded(chunks: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}
