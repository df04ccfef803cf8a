import { AppError } from '@octavo/core';
import { checkRight, scopeOf } from '../../budgets/index.ts';
import { type AccountTransaction, runCommand } from '../../commands.ts';
import { invalid } from '../../edges/schema-parser.ts';
import type { Store } from '../../store/tables.ts';
import type { RunningTask, TaskKind, TaskUndo, UndoResult } from '../../tasks/index.ts';
import type { ExpenseWithBudget } from '../expense.ts';
import {
  type BulkRequest,
  type BulkResult,
  changeRows,
  changesOf,
  checkBulkRequest,
  enterRequest,
  filteredRows,
  parseBulkRequest,
  unchangedRows,
} from './bulk.ts';
import { lastExpense, markUndone, slicesOfTask, tokenOfSlice } from './store.ts';
import { restoreAll, rowsBefore } from './undo.ts';

/** Expenses of one transaction of a task. */
const sliceRows = 200;
/** Expenses in the result that could not be changed. */
const keptMax = 1_000;

interface Plan {
  readonly request: BulkRequest;
  /** The number of the last expense that is there. */
  readonly last: number;
}

interface Progress {
  readonly after: number;
  readonly changed: number;
  readonly kept: BulkResult['kept'];
}

/** Takes back the slices of a task, each in a transaction. */
export const undoOfSlices: TaskUndo = {
  async some(transaction, taskId) {
    const { session, actor: owner } = transaction;
    const slices = await slicesOfTask(session, owner, taskId);
    if (slices.length === 0)
      throw new AppError('conflict', 'There is nothing to undo, or it is older than 24 hours.');
    for (const { token, undone: isUndone } of slices) {
      if (isUndone === 1) continue;
      const { undone, kept } = await restoreAll(transaction, await rowsBefore(session, owner, token));
      await markUndone(session, { owner, token, rows_before: JSON.stringify(kept) });
      if (undone > 0) return undone;
    }
    return 0;
  },
  async end({ session, actor: owner }, taskId) {
    const kept: UndoResult['kept'] = [];
    for (const { token } of await slicesOfTask(session, owner, taskId))
      kept.push(...((await rowsBefore(session, owner, token)) as unknown as UndoResult['kept']));
    return { kept: kept.slice(0, keptMax) };
  },
};

/** Changes all expenses that a filter fits, in slices. One that is cut off goes on where it was. */
export const bulkTask: TaskKind = {
  async prepare({ db }, { owner }, { bulk }) {
    const request = parseBulkRequest(bulk ?? {});
    checkBulkRequest(request);
    if (!request.filter) throw invalid({ filter: 'is required' });
    const scope = await writableScope(db, owner, request.filter.budgetId);
    await writableScope(db, owner, request.change?.budgetId ?? undefined);
    const last = (await lastExpense(db, scope.owner))?.number ?? -1;
    return { input: { request, last } satisfies Plan };
  },
  async run({ context, caller, taskId, input, partial, advance }: RunningTask) {
    const { request, last } = input as Plan;
    let done = (partial as Progress | undefined) ?? { after: -1, changed: 0, kept: [] };
    while (done.after < last) {
      const slice = { after: done.after, limit: sliceRows };
      const found = await filteredRows(context, caller.owner, request.filter ?? {}, slice);
      done = await runCommand(
        context,
        caller,
        async (transaction) => {
          const next = await changeSlice(transaction, request, { found, done, taskId, last });
          await advance((100 * (next.after + 1)) / (last + 1), next, transaction.session);
          return next;
        },
        { alone: true },
      );
    }
    return { changed: done.changed, kept: done.kept };
  },
  undo: undoOfSlices,
};

/** Throws `not_found`, or `forbidden` for a budget that an account may only read. */
async function writableScope(session: Store, account: number, budgetId: string | undefined) {
  const scope = await scopeOf(session, account, budgetId);
  for (const { member_role: role = 'owner' } of scope.budgets ?? []) checkRight(role, 'write');
  return scope;
}

async function changeSlice(
  transaction: AccountTransaction,
  request: BulkRequest,
  {
    found,
    done,
    taskId,
    last,
  }: { found: readonly ExpenseWithBudget[]; done: Progress; taskId: string; last: number },
): Promise<Progress> {
  const { session, owner } = transaction;
  await enterRequest(transaction, request);
  const rows = await unchangedRows(
    session,
    owner,
    found.filter(({ number }) => number <= last),
  );
  const token = tokenOfSlice(taskId, done.after);
  const { changed, kept } = await changeRows(transaction, changesOf(rows, request), { token });
  return {
    after: found.length < sliceRows ? last : (found.at(-1)?.number ?? last),
    changed: done.changed + changed,
    kept: [...done.kept, ...kept].slice(0, keptMax),
  };
}
