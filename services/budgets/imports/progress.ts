import { toMajor } from '@octavo/documents/values';
import { accessTo } from '../budgets/index.ts';
import { runCommand } from '../commands.ts';
import {
  addExpenses,
  identify,
  KnownRows,
  link,
  type NewExpense,
  TypedExpenses,
  type TypedRow,
} from '../expenses/index.ts';
import { addIncomes, KnownIncomes } from '../incomes/index.ts';
import type { RuledRow, RuleSet } from '../rules/index.ts';
import type { Store } from '../store/tables.ts';
import type { RunningTask } from '../tasks/index.ts';
import { type Reading, readAsOf } from './formats/reading.ts';
import type { ParsedRow } from './formats/row.ts';
import type { ImportPlan, ImportResult, PreviewRow, SkippedLine } from './import.ts';
import { PaidPayees } from './paid-payees.ts';
import { byBudget, type ImportScope } from './targets.ts';

/** Lines that a result lists of each kind. */
const listedMax = 1_000;
const previewMax = 20;
const income = 'money that came in';
const transferIn = 'a transfer between your accounts';

/** A plan that says how the file is read. */
export type Planned = ImportPlan & { readonly reading: Reading };

type ProgressTask = Pick<RunningTask, 'context' | 'caller' | 'taskId' | 'partial' | 'advance'>;

type TakenRow = Extract<ParsedRow, { readonly expense: NewExpense }> & { readonly ruled: RuledRow };

/** A row that is taken for the first time. */
type FreshRow = TakenRow | Exclude<ParsedRow, { readonly expense: NewExpense }>;

/** A row of a file that an expense of before is. */
interface Found {
  readonly number: number;
  readonly row: NewExpense;
}

/** Work that follows from rows. */
interface Noted {
  readonly added: NewExpense[];
  readonly incomes: NewExpense[];
  /** Those that give an id to an imported expense. */
  readonly identified: Found[];
  /** Those that are a typed expense. */
  readonly matched: Found[];
}

interface Shown {
  readonly kind: PreviewRow['kind'];
  readonly isDuplicate: boolean;
  readonly typed: TypedRow | undefined;
}

type Counted = {
  -readonly [K in 'total' | 'created' | 'refunds' | 'incomes' | 'duplicates' | 'matched' | 'failed']: number;
};

/** Adds batches of rows, and counts what became of them. Rows that an earlier attempt has added are taken again, and not counted. */
export class Progress {
  readonly #task: ProgressTask;
  readonly #plan: Planned;
  readonly #scope: ImportScope;
  readonly #rules: RuleSet;
  readonly #known: KnownRows;
  readonly #incomes: KnownIncomes;
  /** Absent if no row is to be one of them. */
  readonly #typed: TypedExpenses | undefined;
  readonly #payees = new PaidPayees();
  #counted: Counted = {
    total: 0,
    created: 0,
    refunds: 0,
    incomes: 0,
    duplicates: 0,
    matched: 0,
    failed: 0,
  };
  #errors: ImportResult['errors'][number][] = [];
  #skipped: SkippedLine[] = [];
  #duplicateLines: number[] = [];
  #outside: number[] = [];
  #preview: PreviewRow[] = [];
  #left = 0;

  constructor(
    task: ProgressTask,
    plan: Planned,
    { scope, rules }: { readonly scope: ImportScope; readonly rules: RuleSet },
  ) {
    this.#task = task;
    this.#plan = plan;
    this.#scope = scope;
    this.#rules = rules;
    const { owner, sharedBudget } = scope;
    this.#typed = plan.match === 'auto' ? new TypedExpenses(owner, sharedBudget) : undefined;
    this.#incomes = new KnownIncomes({ owner: task.caller.owner, task: task.taskId });
    const known = { owner, task: task.taskId, typed: !this.#typed, only: sharedBudget };
    this.#known = new KnownRows(plan.budgetId, known);
    const partial = task.partial as ImportResult | undefined;
    if (!partial || plan.dryRun) return;
    const { errors, total, created, refunds = 0, incomes = 0, duplicates, matched = 0 } = partial;
    const { skipped, failed } = partial;
    this.#counted = { total, created, refunds, incomes, duplicates, matched, failed };
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
    const { context, caller, advance } = this.#task;
    if (before.length > 0) await this.#retake(before);
    const fresh = await this.#ruled(rows.slice(before.length));
    if (fresh.length === 0) return;
    const progress = share * 100;
    if (this.#plan.dryRun) {
      await context.db.read((session) => this.#load(session, fresh));
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
      context,
      { ...caller, account: this.#scope.owner },
      async (transaction) => {
        // The transaction may run again after a conflict.
        this.#counted = { ...saved.counted };
        this.#errors = [...saved.errors];
        this.#skipped = [...saved.skipped];
        this.#duplicateLines = [...saved.duplicateLines];
        this.#known.forget();
        this.#incomes.forget();
        this.#typed?.forget();
        const { session, owner } = transaction;
        const { budgetId } = this.#plan;
        // Also for rows that only give their ids to expenses: the budget may no longer be shared.
        if (budgetId !== null) await accessTo(transaction, budgetId, 'write');
        await this.#load(session, fresh);
        const { added, incomes, identified, matched } = this.#note(fresh);
        const { taskId: task } = this.#task;
        for (const [budget, expenses] of await byBudget(transaction, this.#plan.budgetId, added))
          await addExpenses(transaction, budget, { expenses, task });
        await addIncomes(transaction, { rows: incomes, task });
        for (const each of identified) await identify(session, { owner, task, ...each });
        for (const each of matched) await link(session, { owner, task, ...each });
        await advance(progress, this.result(), session);
      },
      { alone: true },
    );
    this.#known.keep();
    this.#incomes.keep();
  }

  /** Rows with what the rules make of them, before a transaction begins: patterns take their time. */
  async #ruled(rows: readonly ParsedRow[]): Promise<FreshRow[]> {
    const fresh: FreshRow[] = [];
    for (const row of rows)
      fresh.push('expense' in row ? { ...row, ruled: await this.#rules.applyTo(row.expense) } : row);
    return fresh;
  }

  async #load(session: Store, rows: readonly ParsedRow[]): Promise<void> {
    const expenses = expensesOf(rows);
    await this.#known.load(session, expenses);
    await this.#incomes.load(session, expenses);
    await this.#typed?.load(session, expenses);
    await this.#payees.load(session, this.#scope, expenses);
  }

  /** Takes rows that an earlier attempt has committed, so that later ones find the same duplicates. */
  async #retake(rows: readonly ParsedRow[]): Promise<void> {
    const expenses = expensesOf(rows);
    await this.#task.context.db.read(async (session) => {
      await this.#known.load(session, expenses);
      await this.#incomes.load(session, expenses);
    });
    for (const expense of expenses)
      if (expense.minor > 0 || !this.#takeIncome(expense)) this.#known.take(expense);
    this.#known.keep();
    this.#incomes.keep();
  }

  result(): ImportResult {
    const readAs = readAsOf(this.#plan.reading);
    const skippedLines = [...readAs.skippedLines, ...this.#outside].slice(0, listedMax);
    const [skipped, errors, duplicateLines] = [this.#skipped, this.#errors, this.#duplicateLines];
    const lists = { duplicateLines, skipped, errors, readAs: { ...readAs, skippedLines } };
    const result = { ...this.#counted, ...lists };
    return this.#plan.dryRun ? { ...result, preview: this.#preview } : result;
  }

  /** Counts rows, and returns what is to be done with them. */
  #note(rows: readonly FreshRow[]): Noted {
    const noted: Noted = { added: [], incomes: [], identified: [], matched: [] };
    for (const row of rows) {
      this.#counted.total++;
      if ('error' in row) {
        this.#counted.failed++;
        if (this.#errors.length < listedMax) this.#errors.push({ line: row.line, ...row.error });
      } else if ('skipped' in row) {
        this.#skip(row.line, row.skipped);
      } else if ('expense' in row) {
        this.#noteRow(row, noted);
      }
    }
    return noted;
  }

  #noteRow({ line, expense: given, ruled }: TakenRow, { added, incomes, identified, matched }: Noted): void {
    const { expense } = ruled;
    const isIn = given.minor < 0;
    const isKnownIncome = isIn && this.#takeIncome(given);
    const isIncome = isIn && !this.#payees.isRefund(given);
    const isLeft = isIn && (ruled.isTransfer || (isIncome && !this.#keepsIncomes));
    if (isLeft) {
      this.#skip(line, ruled.isTransfer ? transferIn : income);
      return;
    }
    const duplicate = isKnownIncome ? {} : this.#known.take(given);
    const typed = duplicate || isIncome ? undefined : this.#typed?.take(given);
    if (typed) matched.push({ number: typed.number, row: given });
    else if (!duplicate) (isIncome ? incomes : added).push(expense);
    else if (duplicate.identified !== undefined)
      identified.push({ number: duplicate.identified, row: given });
    this.#counted[duplicate ? 'duplicates' : typed ? 'matched' : 'created']++;
    if (!duplicate && !typed && isIn) this.#counted[isIncome ? 'incomes' : 'refunds']++;
    if (duplicate && this.#duplicateLines.length < listedMax) this.#duplicateLines.push(line);
    const kind = isIncome ? 'income' : isIn ? 'refund' : 'expense';
    this.#show(line, expense, { kind, isDuplicate: duplicate !== undefined, typed });
  }

  /** Incomes belong to no budget, so they are not kept in the account of another person. */
  get #keepsIncomes(): boolean {
    return this.#plan.incomes === 'keep' && this.#scope.sharedBudget === undefined;
  }

  #skip(line: number, reason: string): void {
    if (this.#skipped.length < listedMax) this.#skipped.push({ line, reason });
  }

  /** True if a row is an income of before; else later rows of the file may be the same as this one. */
  #takeIncome(row: NewExpense): boolean {
    if (this.#incomes.has(row)) return true;
    this.#incomes.add(row);
    return false;
  }

  #show(
    line: number,
    { minor, account, text: _text, original, budgetId, isRefund: _refund, ...expense }: NewExpense,
    { kind, isDuplicate, typed }: Shown,
  ): void {
    if (!this.#plan.dryRun || this.#preview.length >= previewMax) return;
    this.#preview.push({
      line,
      ...expense,
      kind,
      amount: toMajor(Math.abs(minor), expense.currency),
      budgetId: kind === 'income' ? null : (this.#plan.budgetId ?? budgetId ?? null),
      originalAmount: original && toMajor(original.minor, original.currency),
      originalCurrency: original?.currency ?? null,
      account: account?.slice(-4) ?? null,
      isDuplicate,
      matches: typed ? { id: typed.id, description: typed.description, spentOn: typed.day } : null,
    });
  }
}

function expensesOf(rows: readonly ParsedRow[]): NewExpense[] {
  return rows.flatMap((row) => ('expense' in row ? row.expense : []));
}
