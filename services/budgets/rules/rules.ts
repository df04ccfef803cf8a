import { AppError, newOrderedId, notFound } from '@octavo/core';
import type { Session } from '@octavo/data';
import type { Page, PageRequest } from '@octavo/web/rest';
import { checkVersion, decodeCursor, encodeCursor, type Versions } from '@octavo/web/rest';
import { requireBudget } from '../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { ownedRow } from '../store/owned.ts';
import type { RuleRow, Tables } from '../store/tables.ts';
import {
  columnsOf,
  type Rule,
  type RuleDefinition,
  type RuleInput,
  type RulePatch,
  type RuleSets,
  rulesMax,
  toRule,
} from './rule.ts';
import { compile } from './rule-set.ts';
import { countRules, deleteRuleRow, insertRule, rulesAfter, shiftRules, updateRuleRow } from './store.ts';

/** Adds a rule at its position, the last by default. Throws `conflict` for too many. */
export async function createRule(context: Context, caller: Caller, given: RuleInput): Promise<Rule> {
  const definition = await definitionOf(given);
  return runCommand(context, caller, async ({ session, owner, nowMs }) => {
    if (definition.set.budgetId !== undefined) await requireBudget(session, owner, definition.set.budgetId);
    const total = await countRules(session, owner);
    if (total >= rulesMax) throw new AppError('conflict', `An account has at most ${rulesMax} rules.`);
    const position = Math.min(given.position ?? total + 1, total + 1);
    await shiftRules(session, { owner, from: position, to: total, by: 1 });
    const enabled = Number(given.enabled ?? true);
    const columns = { ...columnsOf(definition), enabled };
    return toRule(
      await insertRule(session, { owner, id: newOrderedId(), position, ...columns, created_at_ms: nowMs }),
    );
  });
}

export async function getRule({ db }: Context, { owner }: Caller, id: string): Promise<Rule> {
  return toRule(await requireRule(db, owner, id));
}

/** Rules, in the order they are tried. */
export async function listRules(
  { db }: Context,
  { owner }: Caller,
  { limit, cursor }: PageRequest,
): Promise<Page<Rule>> {
  const [position = 0] = decodeCursor(cursor, ['integer']) as [number?];
  const rows = await rulesAfter(db, { owner, position, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const total = await countRules(db, owner);
  return { items: shown.map(toRule), total, next: last && encodeCursor([last.position]) };
}

/** All enabled rules of an account as an import applies them. */
export async function rulesToApply(session: Session<Tables>, owner: number): Promise<RuleDefinition[]> {
  const rows = await rulesAfter(session, { owner, position: 0, limit: rulesMax });
  return rows
    .map(toRule)
    .filter(({ enabled }) => enabled)
    .map(({ conditions, match, set, transfer }) => ({ conditions, match, set, transfer }));
}

/** Changes the given fields. A new position moves the rules between by one. */
export async function updateRule(
  context: Context,
  caller: Caller,
  id: string,
  { versions, ...given }: RulePatch & { readonly versions?: Versions },
): Promise<Rule> {
  // Before the transaction, where the engine of patterns may be loaded.
  await definitionOf(given, toRule(await requireRule(context.db, caller.owner, id)));
  return runCommand(context, caller, async ({ session, owner, nowMs }) => {
    const row = await requireRule(session, owner, id);
    checkVersion(row.version, versions);
    const before = toRule(row);
    const definition = await definitionOf(given, before);
    if (given.set?.budgetId !== undefined) await requireBudget(session, owner, given.set.budgetId);
    const position = Math.min(given.position ?? row.position, await countRules(session, owner));
    if (position < row.position)
      await shiftRules(session, { owner, from: position, to: row.position - 1, by: 1 });
    if (position > row.position)
      await shiftRules(session, { owner, from: row.position + 1, to: position, by: -1 });
    const columns = { ...columnsOf(definition), enabled: Number(given.enabled ?? before.enabled) };
    return toRule(await updateRuleRow(session, { owner, id, position, ...columns, updated_at_ms: nowMs }));
  });
}

export function deleteRule(
  context: Context,
  caller: Caller,
  id: string,
  versions?: Versions,
): Promise<{ message: string; id: string }> {
  return runCommand(context, caller, async (transaction) => {
    const row = await requireRule(transaction.session, transaction.owner, id);
    checkVersion(row.version, versions);
    await removeRule(transaction, row);
    return { message: 'Rule deleted', id };
  });
}

/** Deletes a rule in the caller's transaction. */
export async function removeRule(
  { session, owner }: AccountTransaction,
  { id }: Pick<RuleRow, 'id'>,
): Promise<void> {
  const { position } = await requireRule(session, owner, id);
  const total = await countRules(session, owner);
  await deleteRuleRow(session, owner, id);
  await shiftRules(session, { owner, from: position + 1, to: total, by: -1 });
}

export async function requireRule(session: Session<Tables>, owner: number, id: string): Promise<RuleRow> {
  const row = await ownedRow(session, 'import_rule', { owner, id });
  if (!row) throw notFound('rule', id);
  return row;
}

/** Definition of a rule with some fields changed. Throws `validation_failed` for one that fits nothing, or does nothing. */
export async function definitionOf(given: RulePatch, before?: Rule): Promise<RuleDefinition> {
  const { contains, category, tags, match = before?.match ?? 'all' } = given;
  if (contains !== undefined && given.conditions !== undefined)
    throw invalid({ contains: 'or conditions is required, not both' });
  const short = contains && [{ field: 'description', op: 'contains', value: contains } as const];
  const conditions = given.conditions ?? (short || before?.conditions);
  if (!conditions) throw invalid({ contains: 'is required, or conditions' });
  const transfer = given.transfer ?? before?.transfer ?? false;
  const set = filledSet({
    ...(given.set ?? before?.set),
    ...(category !== undefined && { category }),
    ...(tags !== undefined && { addTags: tags }),
  });
  if (transfer && set.budgetId !== undefined) throw invalid({ transfer: 'or set.budgetId, not both' });
  if (Object.keys(set).length === 0 && !transfer)
    throw invalid(
      contains === undefined ? { set: 'must have a field' } : { category: 'is required, or set' },
    );
  const definition = { conditions, match, set, transfer };
  await compile(definition).catch((error) => {
    throw contains === undefined ? error : aboutContains(error);
  });
  return definition;
}

/** The short form has no conditions that an error could name. */
function aboutContains(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'validation_failed') return error;
  return invalid({ contains: Object.values(error.fields)[0] ?? 'is not valid' });
}

function filledSet({ budgetId, category, addTags = [], description }: RuleSets): RuleSets {
  return {
    ...(budgetId !== undefined && { budgetId }),
    ...(category !== undefined && { category }),
    ...(addTags.length > 0 && { addTags: [...new Set(addTags)] }),
    ...(description !== undefined && { description }),
  };
}
