import { newId } from '@octavo/core';
import { runEvery, WorkerPool } from '@octavo/core/concurrency';
import { toMajor } from '@octavo/documents/values';
import { requireBudget } from '../budgets/index.ts';
import { type Caller, type Context, runCommand } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { addExpenses, identify, KnownRows, type NewExpense } from '../expenses/index.ts';
import { categorizer, rulesToApply } from '../rules/index.ts';
import type { BudgetRow } from '../store/tables.ts';
import { readTaskFile, type TaskContext, type TaskInput, type TaskKind } from '../tasks/index.ts';
import { unreadable } from './formats/parser.ts';
import type { ParserTasks } from './formats/parser-worker.ts';
import { type Reading, readAsOf, type SurveyOptions } from './formats/reading.ts';
import type { ParsedRow } from './formats/row.ts';
import {
  type ImportPlan,
  ImportRequest,
  type ImportResult,
  type PreviewRow,
  parseImportRequest,
  readOptionsOf,
  type SkippedLine,
} from './import.ts';

/**
 * Rows of one transaction. Most indexes of expenses are not in the order of a file, so a commit writes a page for nearly every row of a
 * small batch: with 250 rows, commits were half of the work.
 */
const batchRows = 500;
/** Lines that a result lists of each kind. */
const listedMax = 1_000;
const previewMax = 20;
const idleMs = 10_000;
/** While a file is open, its thread must not end, however long the database takes for a batch. */
const keepMs = 3_000;

/** The rows of a file become expenses of a budget. Files are read in a thread, and written in batches. */
export class Imports implements TaskKind, AsyncDisposable {
  readonly #parsers = new WorkerPool<ParserTasks>(new URL('./formats/parser-worker.ts', import.meta.url), {
    name: 'import',
    idleMs,
  });

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parsers[Symbol.asyncDispose]();
  }

  /** For files that come with the request for a task. */
  async prepare(
    core: Context,
    caller: Caller,
    given: TaskInput,
  ): Promise<{ input: ImportPlan; file: Uint8Array }> {
    if (given.content === undefined) throw invalid({ content: 'is required; or send a file to /api/import' });
    const { type: _type, content, ...all } = given;
    const named = Object.entries(all).filter(([name, value]) => value !== undefined && isOption(name));
    const request = parseImportRequest(Object.fromEntries(named));
    const file = Buffer.from(content);
    return { input: await this.plan(core, caller, request, one(file)), file };
  }

  /** Checks a file. Throws `unprocessable` if it is empty, of another kind, or cannot be mapped. */
  async plan(
    { db }: Context,
    { owner }: Caller,
    request: ImportRequest,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<ImportPlan> {
    const { budgetId, dryRun = false } = request;
    const { currency } = await requireBudget(db, owner, budgetId);
    const sized = { bytes: 0 };
    const options = { ...readOptionsOf(request), currency, guesses: false };
    const reading = await this.survey(counted(chunks, sized), options);
    const rules = await rulesToApply(db, owner);
    return { budgetId, reading, dryRun, sizeBytes: sized.bytes, rules };
  }

  /** Looks through a file to see how it is read. Throws `unprocessable`. */
  async survey(chunks: AsyncIterable<Uint8Array>, options: SurveyOptions): Promise<Reading> {
    const id = newId();
    await this.#parsers.run('openSurvey', { id, options });
    using _kept = this.#keepThread();
    try {
      for await (const bytes of chunks) await this.#parsers.run('pushSurvey', { id, bytes });
      const found = await this.#parsers.run('endSurvey', { id });
      if ('problem' in found) throw unreadable(found.problem, found.field);
      return found.reading;
    } finally {
      await this.#parsers.run('close', { id });
    }
  }

  /** Keeps the thread, with its open files, until it is disposed of. */
  #keepThread(): Disposable {
    return runEvery(keepMs, () => this.#parsers.run('keep', {}).catch(() => {}));
  }

  async run(context: TaskContext): Promise<ImportResult> {
    const { core, caller, input } = context;
    const given = input as ImportPlan;
    const budget = await requireBudget(core.db, caller.owner, given.budgetId);
    const plan = { ...given, reading: given.reading ?? (await this.#olderReading(context, budget.currency)) };
    const progress = new Progress(context, budget, plan);
    let batch: ParsedRow[] = [];
    for await (const { rows, share } of this.#read(context, plan)) {
      batch.push(...rows);
      for (; batch.length >= batchRows; batch = batch.slice(batchRows))
        await progress.take(batch.slice(0, batchRows), share);
    }
    await progress.take(batch, 1);
    return progress.result();
  }

  /** The rows at the beginning of a file. */
  async parseHead(head: FileHead, reading: Reading): Promise<ParsedRow[]> {
    const id = newId();
    await this.#parsers.run('open', { id, reading });
    try {
      const rows = await this.#parsers.run('push', { id, bytes: head.bytes });
      return head.isWhole ? [...rows, ...(await this.#parsers.run('end', { id }))] : rows;
    } finally {
      await this.#parsers.run('close', { id });
    }
  }

  /** Previews an import of these rows. Nothing is stored. */
  async preview(core: Context, caller: Caller, { plan, rows }: PreviewRequest): Promise<ImportResult> {
    const budget = await requireBudget(core.db, caller.owner, plan.budgetId);
    const context = { core, caller, taskId: '', partial: undefined, advance: async () => {} };
    const progress = new Progress(context, budget, { ...plan, dryRun: true });
    await progress.take(rows, 1);
    return progress.result();
  }

  /** For a task that an older version stored, with the options beside each other. */
  #olderReading({ core, caller, taskId, input }: TaskContext, currency: string): Promise<Reading> {
    const {
      budgetId: _budget,
      dryRun: _dryRun,
      sizeBytes: _size,
      rules: _rules,
      ...options
    } = input as ImportPlan;
    const file = readTaskFile(core, { owner: caller.owner, taskId, name: 'input' });
    return this.survey(file, { ...options, currency, guesses: false });
  }

  async *#read({ core, caller, taskId, signal }: TaskContext, { reading, sizeBytes }: Planned) {
    const id = newId();
    const parsers = this.#parsers;
    await parsers.run('open', { id, reading }, { signal });
    using _kept = this.#keepThread();
    try {
      let readBytes = 0;
      for await (const bytes of readTaskFile(core, { owner: caller.owner, taskId, name: 'input' })) {
        readBytes += bytes.length;
        yield { rows: await parsers.run('push', { id, bytes }, { signal }), share: readBytes / sizeBytes };
      }
      yield { rows: await parsers.run('end', { id }, { signal }), share: 1 };
    } finally {
      await parsers.run('close', { id });
    }
  }
}

/** The first bytes of a file, and whether they are all of it. */
export interface FileHead {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/** A plan that says how the file is read. */
export type Planned = ImportPlan & { readonly reading: Reading };

interface PreviewRequest {
  readonly plan: Planned;
  readonly rows: readonly ParsedRow[];
}

type ProgressContext = Pick<TaskContext, 'core' | 'caller' | 'taskId' | 'partial' | 'advance'>;

interface Identified {
  readonly number: number;
  readonly row: NewExpense;
}

type Counted = { -readonly [K in 'total' | 'created' | 'duplicates' | 'failed']: number };

/** Adds batches of rows, and counts what became of them. Rows that an earlier attempt has added are taken again, and not counted. */
class Progress {
  readonly #context: ProgressContext;
  readonly #budget: BudgetRow;
  readonly #plan: Planned;
  readonly #categorize: ReturnType<typeof categorizer>;
  readonly #known: KnownRows;
  #counted: Counted = { total: 0, created: 0, duplicates: 0, failed: 0 };
  #errors: ImportResult['errors'][number][] = [];
  #skipped: SkippedLine[] = [];
  #duplicateLines: number[] = [];
  #outside: number[] = [];
  #preview: PreviewRow[] = [];
  #left = 0;

  constructor(context: ProgressContext, budget: BudgetRow, plan: Planned) {
    this.#context = context;
    this.#budget = budget;
    this.#plan = plan;
    this.#categorize = categorizer(plan.rules ?? []);
    this.#known = new KnownRows(budget, context.taskId);
    const partial = context.partial as ImportResult | undefined;
    if (!partial || plan.dryRun) return;
    const { errors, total, created, duplicates, skipped, failed } = partial;
    this.#counted = { total, created, duplicates, failed };
    this.#errors = [...errors];
    this.#duplicateLines = [...(partial.duplicateLines ?? [])];
    // Results of older versions have a number.
    this.#skipped = Array.isArray(skipped) ? [...skipped] : [];
    this.#left = total;
  }

  /** `share` is how much of the file was read. */
  async take(given: readonly ParsedRow[], share: number): Promise<void> {
    const rows = given.filter((row) => !('isOutside' in row));
    const outside = given.flatMap((row) => ('isOutside' in row ? row.line : []));
    if (this.#outside.length < listedMax) this.#outside.push(...outside);
    const before = rows.slice(0, this.#left);
    this.#left -= before.length;
    const { core, caller, advance } = this.#context;
    if (before.length > 0) await this.#retake(before);
    const fresh = rows.slice(before.length);
    if (fresh.length === 0) return;
    const progress = share * 100;
    if (this.#plan.dryRun) {
      await core.db.read((session) => this.#known.load(session, expensesOf(fresh)));
      this.#note(fresh);
      await advance(progress);
      return;
    }
    const saved = {
      counted: { ...this.#counted },
      errors: [...this.#errors],
      skipped: [...this.#skipped],
      duplicateLines: [...this.#duplicateLines],
    };
    await runCommand(
      core,
      caller,
      async (unit) => {
        // The transaction may run again after a conflict.
        this.#counted = { ...saved.counted };
        this.#errors = [...saved.errors];
        this.#skipped = [...saved.skipped];
        this.#duplicateLines = [...saved.duplicateLines];
        this.#known.forget();
        const { session, owner } = unit;
        const budget = await requireBudget(session, owner, this.#plan.budgetId);
        await this.#known.load(session, expensesOf(fresh));
        const { added, identified } = this.#note(fresh);
        await addExpenses(unit, budget, { expenses: added, task: this.#context.taskId });
        for (const each of identified) await identify(session, { owner, ...each });
        await advance(progress, this.result(), session);
      },
      { alone: true },
    );
    this.#known.keep();
  }

  /** Takes rows that an earlier attempt has committed, so that later ones find the same duplicates. */
  async #retake(rows: readonly ParsedRow[]): Promise<void> {
    const expenses = expensesOf(rows);
    await this.#context.core.db.read((session) => this.#known.load(session, expenses));
    for (const expense of expenses) this.#known.take(expense);
    this.#known.keep();
  }

  result(): ImportResult {
    const readAs = readAsOf(this.#plan.reading);
    const skippedLines = [...readAs.skippedLines, ...this.#outside].slice(0, listedMax);
    const [skipped, errors, duplicateLines] = [this.#skipped, this.#errors, this.#duplicateLines];
    const lists = { duplicateLines, skipped, errors, readAs: { ...readAs, skippedLines } };
    const result = { ...this.#counted, ...lists };
    return this.#plan.dryRun ? { ...result, preview: this.#preview } : result;
  }

  /** Counts rows, and returns those to add, and those that give an id to an expense of before. */
  #note(rows: readonly ParsedRow[]): { added: NewExpense[]; identified: Identified[] } {
    const added: NewExpense[] = [];
    const identified: Identified[] = [];
    for (const row of rows) {
      this.#counted.total++;
      if ('error' in row) {
        this.#counted.failed++;
        if (this.#errors.length < listedMax) this.#errors.push({ line: row.line, ...row.error });
      } else if ('skipped' in row) {
        if (this.#skipped.length < listedMax) this.#skipped.push({ line: row.line, reason: row.skipped });
      } else if ('expense' in row) {
        const duplicate = this.#known.take(row.expense);
        const expense = this.#categorize(row.expense);
        if (!duplicate) added.push(expense);
        else if (duplicate.identified !== undefined)
          identified.push({ number: duplicate.identified, row: row.expense });
        this.#counted[duplicate ? 'duplicates' : 'created']++;
        if (duplicate && this.#duplicateLines.length < listedMax) this.#duplicateLines.push(row.line);
        this.#show(row.line, expense, duplicate !== undefined);
      }
    }
    return { added, identified };
  }

  #show(
    line: number,
    { minor, account: _account, text: _text, ...expense }: NewExpense,
    isDuplicate: boolean,
  ): void {
    if (!this.#plan.dryRun || this.#preview.length >= previewMax) return;
    const { currency } = this.#budget;
    this.#preview.push({ line, ...expense, amount: toMajor(minor, currency), currency, isDuplicate });
  }
}

function expensesOf(rows: readonly ParsedRow[]): NewExpense[] {
  return rows.flatMap((row) => ('expense' in row ? row.expense : []));
}

const isOption = (name: string) => name in ImportRequest.properties;

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  size: { bytes: number },
): AsyncGenerator<Uint8Array> {
  for await (const bytes of chunks) {
    size.bytes += bytes.length;
    yield bytes;
  }
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
