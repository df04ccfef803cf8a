import { createHash } from 'node:crypto';
import { AppError } from '@octavo/core';
import type {
  BudgetServiceDefinition,
  DeepPartial,
  UpdateBudgetRequest,
  WatchBudgetResponse,
} from '@octavo/protocols/budget/v1/budget_service';
import { type CallContext, ServerError, type ServiceImplementation, Status } from 'nice-grpc';
import type { SignedIn } from '../authentication/index.ts';
import {
  createBudget,
  deleteBudget,
  getBudget,
  listBudgets,
  parseBudgetInput,
  parseBudgetPatch,
  updateBudget,
} from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { createExpense, parseExpenseInput } from '../expenses/index.ts';
import { followFrom, type NotificationHub } from '../feed/index.ts';
import { lastNotification } from '../notifications/index.ts';
import {
  dayOfMessage,
  decimalOf,
  kindOfMessage,
  refuseArgument,
  toBudgetMessage,
  toExpenseMessage,
  versionsOf,
} from './messages.ts';

const pageSizeDefault = 100;
const pageSizeMax = 500;

/** Context of a call besides its request. */
export interface Signed {
  readonly caller: SignedIn;
}

/** Dependencies of the methods. */
export interface HandlerParts {
  readonly context: Context;
  readonly hub: NotificationHub;
  /** Ends watches when the service stops. */
  readonly stopping: AbortSignal;
}

/** The methods of `budget.v1.BudgetService`. */
export function createHandlers(parts: HandlerParts): BudgetServiceImplementation<Signed> {
  const { context } = parts;
  return {
    getBudget: async ({ id }, { caller }) => ({
      budget: toBudgetMessage(await getBudget(context, caller, id)),
    }),
    listBudgets: async ({ pageSize, pageToken }, { caller }) => {
      if (pageSize < 0) refuseArgument('page_size', 'must not be negative');
      const limit = Math.min(pageSize || pageSizeDefault, pageSizeMax);
      const { items, next, total } = await readPage(context, caller, { limit, pageToken });
      return { budgets: items.map(toBudgetMessage), nextPageToken: next ?? '', totalSize: total };
    },
    createBudget: async (request, { caller }) => {
      const { name = '', limit } = request.budget ?? {};
      const currency = limit?.currencyCode || undefined;
      const given = { name, limit: decimalOf(limit, 'budget.limit'), ...(currency && { currency }) };
      const once = onceFor(caller, request.requestId, ['CreateBudget', given]);
      const budget = await inside('budget', () => createBudget(context, once, parseBudgetInput(given)));
      return { budget: toBudgetMessage(budget) };
    },
    updateBudget: async (request, { caller }) => {
      const { budget } = request;
      if (!budget) throw invalid({ budget: 'is required' });
      const given = await changesIn(context, caller, request);
      const versions = versionsOf(budget.etag);
      const changed = await inside('budget', () =>
        updateBudget(context, caller, budget.id, {
          ...parseBudgetPatch(given),
          ...(versions && { versions }),
        }),
      );
      return { budget: toBudgetMessage(changed) };
    },
    deleteBudget: async ({ id, etag, cascade }, { caller }) => {
      const versions = versionsOf(etag);
      try {
        await deleteBudget(context, caller, id, { cascade, ...(versions && { versions }) });
      } catch (error) {
        const hasExpenses = error instanceof AppError && error.code === 'conflict';
        throw hasExpenses ? new ServerError(Status.FAILED_PRECONDITION, error.message) : error;
      }
      return {};
    },
    addExpense: async (request, { caller }) => {
      const { expense } = request;
      if (!expense) throw invalid({ expense: 'is required' });
      const { budgetId, kind, description, amount, category, spentOn } = expense;
      const day = dayOfMessage(spentOn, 'expense.spent_on');
      const given = {
        budgetId: budgetId || null,
        kind: kindOfMessage(kind),
        description,
        amount: decimalOf(amount, 'expense.amount'),
        ...(amount?.currencyCode && { currency: amount.currencyCode }),
        ...(category && { category }),
        ...(day && { spentOn: day }),
      };
      const once = onceFor(caller, request.requestId, ['AddExpense', given]);
      const added = await inside('expense', () => createExpense(context, once, parseExpenseInput(given)));
      return { expense: toExpenseMessage(added) };
    },
    watchBudget: ({ id }, call) => watchBudget(parts, id, call),
  };
}

async function readPage(
  context: Context,
  caller: Caller,
  { limit, pageToken }: { limit: number; pageToken: string },
) {
  try {
    return await listBudgets(context, caller, { limit, cursor: pageToken || undefined });
  } catch (error) {
    const isToken = error instanceof AppError && 'cursor' in error.fields;
    throw isToken ? refuseArgument('page_token', 'must be the next_page_token of a page') : error;
  }
}

/** Returns the fields of a budget in `update_mask`, or all of name and limit that are set. */
async function changesIn(context: Context, caller: Caller, { budget, updateMask }: UpdateBudgetRequest) {
  const { id = '', name = '', limit } = budget ?? {};
  const paths = updateMask ?? [...(name ? ['name'] : []), ...(limit ? ['limit'] : [])];
  const unknown = paths.find((path) => !['name', 'limit', '*'].includes(path));
  if (unknown !== undefined)
    refuseArgument('update_mask', `cannot name ${unknown}; it can name name and limit`);
  const has = (path: string) => paths.includes(path) || paths.includes('*');
  if (!has('limit')) return has('name') ? { name } : {};
  const { currency } = await getBudget(context, caller, id);
  if (limit?.currencyCode && limit.currencyCode !== currency) {
    throw invalid({ 'budget.limit.currency_code': `must be ${currency}, the currency of the budget` });
  }
  return { ...(has('name') && { name }), limit: decimalOf(limit, 'budget.limit') };
}

/** A budget as it is, and after each of its changes. */
export async function* watchBudget(
  { context, hub, stopping }: HandlerParts,
  id: string,
  { caller, signal: canceled }: Pick<CallContext, 'signal'> & Signed,
): AsyncGenerator<DeepPartial<WatchBudgetResponse>> {
  const signal = AbortSignal.any([canceled, stopping]);
  // Before the state is read, so that a change in between is sent after it.
  const afterSeq = await lastNotification(context, caller);
  yield { budget: toBudgetMessage(await getBudget(context, caller, id)) };
  for await (const { type, data } of followFrom({ context, hub }, caller, { afterSeq, signal })) {
    const { id: ownId, budgetId } = data as { id?: string; budgetId?: string };
    const isOwn = type.startsWith('expense.') ? budgetId === id : type.startsWith('budget.') && ownId === id;
    // After its deletion, this throws.
    if (isOwn) yield { budget: toBudgetMessage(await getBudget(context, caller, id)) };
  }
  if (stopping.aborted) throw new AppError('unavailable', 'The service is stopping. Watch again.');
  if (!signal.aborted) throw new AppError('unauthenticated', 'The session has ended. Log in again.');
}

/** The caller of a command that is carried out once for a request id. */
function onceFor(caller: Caller, requestId: string, command: unknown): Caller {
  if (requestId === '') return caller;
  if (!/^[\x21-\x7e]{1,255}$/.test(requestId))
    refuseArgument('request_id', 'must be 1 to 255 visible ASCII characters');
  const digest = createHash('sha256').update(JSON.stringify(command)).digest('base64url');
  return { ...caller, idempotency: { key: `grpc ${requestId}`, digest } };
}

const protoNames = {
  budget: { currency: 'limit.currency_code' },
  expense: {
    budgetId: 'budget_id',
    spentOn: 'spent_on',
    currency: 'amount.currency_code',
    // The proto has no rate: the currency must be that of the budget.
    rate: 'amount.currency_code',
  },
} as const;

/** Names the fields of an error as the proto has them, inside their message. */
async function inside<T>(message: keyof typeof protoNames, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || Object.keys(error.fields).length === 0) throw error;
    const names: Readonly<Record<string, string>> = protoNames[message];
    const fields = Object.fromEntries(
      Object.entries(error.fields).map(([name, problem]) => [`${message}.${names[name] ?? name}`, problem]),
    );
    throw new AppError(error.code, error.message, { fields, cause: error });
  }
}

export type {
  DeepPartial,
  UpdateBudgetRequest,
  WatchBudgetResponse,
} from '@octavo/protocols/budget/v1/budget_service';

/** The methods of the service, with the additions of the middleware to their context. */
type BudgetServiceImplementation<Extra> = ServiceImplementation<BudgetServiceDefinition, Extra>;
