import { newId, notFound } from '@octavo/core';
import { runEvery, WorkerPool } from '@octavo/core/concurrency';
import { budgetsWithIds, enter } from '../budgets/index.ts';
import type { AccountTransaction, Caller, Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { countTakenBack, releaseImport, takeBackSome } from '../expenses/index.ts';
import { releaseIncomesOf, takeBackIncomes } from '../incomes/index.ts';
import { countIncomes } from '../ledger/index.ts';
import { RuleSet, rulesToApply, shortRule } from '../rules/index.ts';
import {
  type RunningTask,
  readTaskFile,
  type TaskInput,
  type TaskKind,
  type TaskUndo,
  taskInput,
  type UndoCount,
} from '../tasks/index.ts';
import { unreadable } from './formats/parser.ts';
import type { ParserTasks } from './formats/parser-worker.ts';
import type { Reading, SurveyOptions } from './formats/reading.ts';
import type { ParsedRow } from './formats/row.ts';
import {
  type ImportPlan,
  ImportRequest,
  type ImportResult,
  parseImportRequest,
  readOptionsOf,
} from './import.ts';
import { rememberReading } from './mappings.ts';
import { type Planned, Progress } from './progress.ts';
import { currenciesOf, scopeOfImport } from './targets.ts';

/**
 * Rows of one transaction. Most indexes of expenses are not in the order of a file, so a commit writes a page for nearly every row of a
 * small batch: with 250 rows, commits were half of the work.
 */
const batchRows = 500;
const idleMs = 10_000;
/** While a file is open, its thread must not end, however long the database takes for a batch. */
const keepMs = 3_000;

/** The rows of a file become expenses of a budget. Files are read in a thread, and written in batches. */
export class Imports implements TaskKind, AsyncDisposable {
  readonly undo: TaskUndo = {
    async some(transaction, task) {
      await enterImport(transaction, task);
      return (await takeBackSome(transaction, task)) || (await takeBackIncomes(transaction, task));
    },
    count: countOfUndo,
    async end(transaction, task) {
      await enterImport(transaction, task);
      const kept = await releaseImport(transaction, task);
      return { kept: [...kept, ...(await releaseIncomesOf(transaction, task))] };
    },
  };
  readonly #parsers = new WorkerPool<ParserTasks>(new URL('./formats/parser-worker.ts', import.meta.url), {
    name: 'import',
    idleMs,
  });

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parsers[Symbol.asyncDispose]();
  }

  /** For files that come with the request for a task. */
  async prepare(
    context: Context,
    caller: Caller,
    given: TaskInput,
  ): Promise<{ input: ImportPlan; file: Uint8Array }> {
    if (given.content === undefined) throw invalid({ content: 'is required; or send a file to /api/import' });
    const { type: _type, content, ...all } = given;
    const named = Object.entries(all).filter(([name, value]) => value !== undefined && isOption(name));
    const request = parseImportRequest(Object.fromEntries(named));
    const file = Buffer.from(content);
    return { input: await this.plan(context, caller, request, one(file)), file };
  }

  /** Checks a file. Throws `unprocessable` if it is empty, of another kind, or cannot be mapped. */
  async plan(
    context: Context,
    caller: Caller,
    request: ImportRequest,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<ImportPlan> {
    const { db } = context;
    const { owner } = caller;
    const { budgetId = null, dryRun = false, match = 'none', incomes = 'skip' } = request;
    await scopeOfImport(context, caller, request);
    const { currency, anyCurrency } = await currenciesOf(context, caller, request);
    const sized = { bytes: 0 };
    const options = { ...readOptionsOf(request), currency, anyCurrency, guesses: false };
    const reading = await this.survey(counted(chunks, sized), options);
    const ruleSet = await rulesToApply(db, owner);
    if (!dryRun) await rememberReading(context, caller, reading);
    return { budgetId, reading, dryRun, match, incomes, sizeBytes: sized.bytes, ruleSet };
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

  async run(task: RunningTask): Promise<ImportResult> {
    const { context, caller, input } = task;
    const given = input as ImportPlan;
    const { currency } = await currenciesOf(context, caller, given);
    const plan = { ...given, reading: given.reading ?? (await this.#olderReading(task, currency)) };
    const scope = await scopeOfImport(context, caller, plan);
    const progress = new Progress(task, plan, { scope, rules: await rulesOf(plan) });
    let batch: ParsedRow[] = [];
    for await (const { rows, share } of this.#read(task, plan)) {
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
  async preview(context: Context, caller: Caller, { plan, rows }: PreviewRequest): Promise<ImportResult> {
    const task = { context, caller, taskId: '', partial: undefined, advance: async () => {} };
    const scope = await scopeOfImport(context, caller, plan);
    const progress = new Progress(task, { ...plan, dryRun: true }, { scope, rules: await rulesOf(plan) });
    await progress.take(rows, 1);
    return progress.result();
  }

  /** For a task that an older version stored, with the options beside each other. */
  #olderReading({ context, caller, taskId, input }: RunningTask, currency: string): Promise<Reading> {
    const {
      budgetId: _budget,
      dryRun: _dryRun,
      match: _match,
      incomes: _incomes,
      sizeBytes: _size,
      rules: _rules,
      ruleSet: _ruleSet,
      ...options
    } = input as ImportPlan;
    const file = readTaskFile(context, { owner: caller.owner, taskId, name: 'input' });
    return this.survey(file, { ...options, currency, guesses: false });
  }

  async *#read({ context, caller, taskId, signal }: RunningTask, { reading, sizeBytes }: Planned) {
    const id = newId();
    const parsers = this.#parsers;
    await parsers.run('open', { id, reading }, { signal });
    using _kept = this.#keepThread();
    try {
      let readBytes = 0;
      for await (const bytes of readTaskFile(context, { owner: caller.owner, taskId, name: 'input' })) {
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

interface PreviewRequest {
  readonly plan: Planned;
  readonly rows: readonly ParsedRow[];
}

/** Counts the expenses and incomes of an import by what its undo does with them. */
async function countOfUndo({ db }: Context, { owner: actor }: Caller, taskId: string): Promise<UndoCount> {
  const { budgetId } = await taskInput<Pick<ImportPlan, 'budgetId'>>(db, { owner: actor, id: taskId });
  const [budget] = budgetId ? await budgetsWithIds(db, actor, [budgetId]) : [];
  const owner = budget?.owner ?? actor;
  const { undone, kept } = await countTakenBack(db, owner, taskId);
  return { undone: undone + (await countIncomes(db, { owner, task: taskId })), kept };
}

/** Has the undo of an import go on in the account of its budget, if that is shared with the actor. */
async function enterImport(transaction: AccountTransaction, taskId: string): Promise<void> {
  const { session, actor } = transaction;
  const { budgetId } = await taskInput<Pick<ImportPlan, 'budgetId'>>(session, { owner: actor, id: taskId });
  const [budget] = budgetId ? await budgetsWithIds(session, actor, [budgetId]) : [];
  if (budget) enter(transaction, budget, 'write');
  else if (transaction.owner !== actor) throw notFound('task', taskId);
}

function rulesOf({ ruleSet, rules = [] }: ImportPlan): Promise<RuleSet> {
  return RuleSet.of(ruleSet ?? rules.map(shortRule));
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
