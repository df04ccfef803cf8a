import { AppError, newOrderedId, notFound } from '@octavo/core';
import type { Session } from '@octavo/data';
import type { Page, PageRequest } from '@octavo/web/rest';
import { checkVersion, decodeCursor, encodeCursor, type Versions } from '@octavo/web/rest';
import { type Caller, type Context, runCommand } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { type Expense, listExpenses, updateExpense } from '../expenses/index.ts';
import type { RuleRow, Tables } from '../store/tables.ts';
import { type Categorization, comparable, ruleFinder, withTags } from './matching.ts';
import { type Rule, type RuleInput, type RulePatch, rulesMax, toRule } from './rule.ts';
import {
  countRules,
  deleteRuleRow,
  insertRule,
  ruleById,
  rulesAfter,
  shiftRules,
  updateRuleRow,
} from './store.ts';

/** Adds a rule at its position, the last by default. Throws `conflict` for too many. */
export function createRule(core: Context, caller: Caller, given: RuleInput): Promise<Rule> {
  checkPart(given.contains);
  return runCommand(core, caller, async ({ session, owner, nowMs }) => {
    const total = await countRules(session, owner);
    if (total >= rulesMax) throw new AppError('conflict', `An account has at most ${rulesMax} rules.`);
    const { contains, category, tags = [] } = given;
    const position = Math.min(given.position ?? total + 1, total + 1);
    await shiftRules(session, { owner, from: position, to: total, by: 1 });
    const texts = { contains, category, tags: JSON.stringify([...new Set(tags)]) };
    return toRule(
      await insertRule(session, { owner, id: newOrderedId(), position, ...texts, created_at_ms: nowMs }),
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

/** All rules of an account as an import applies them. */
export async function rulesToApply(session: Session<Tables>, owner: number): Promise<Categorization[]> {
  const rows = await rulesAfter(session, { owner, position: 0, limit: rulesMax });
  return rows.map(({ contains, category, tags }) => ({ contains, category, tags: JSON.parse(tags) }));
}

/** Changes the given fields. A new position moves the rules between by one. */
export function updateRule(
  core: Context,
  caller: Caller,
  id: string,
  { versions, ...given }: RulePatch & { readonly versions?: Versions },
): Promise<Rule> {
  if (given.contains !== undefined) checkPart(given.contains);
  return runCommand(core, caller, async ({ session, owner, nowMs }) => {
    const before = await requireRule(session, owner, id);
    checkVersion(before.version, versions);
    const { contains = before.contains, category = before.category } = given;
    const tags = given.tags ? JSON.stringify([...new Set(given.tags)]) : before.tags;
    const position = Math.min(given.position ?? before.position, await countRules(session, owner));
    if (position < before.position)
      await shiftRules(session, { owner, from: position, to: before.position - 1, by: 1 });
    if (position > before.position)
      await shiftRules(session, { owner, from: before.position + 1, to: position, by: -1 });
    return toRule(
      await updateRuleRow(session, { owner, id, position, contains, category, tags, updated_at_ms: nowMs }),
    );
  });
}

export function deleteRule(
  core: Context,
  caller: Caller,
  id: string,
  versions?: Versions,
): Promise<{ message: string; id: string }> {
  return runCommand(core, caller, async ({ session, owner }) => {
    const { version, position } = await requireRule(session, owner, id);
    checkVersion(version, versions);
    const total = await countRules(session, owner);
    await deleteRuleRow(session, owner, id);
    await shiftRules(session, { owner, from: position + 1, to: total, by: -1 });
    return { message: 'Rule deleted', id };
  });
}

/** Latest expenses that a rule is tried on. */
const triedMax = 5_000;
const appliedMax = 500;

export interface Trial {
  readonly matches: readonly Expense[];
  /** Number of expenses that were looked at. */
  readonly tried: number;
  /** Matches without a category, which {@link applyRule} changes. */
  readonly open: readonly Expense[];
}

/** Finds the latest expenses that a rule fits, whatever their category is. */
export async function tryRule(
  core: Context,
  caller: Caller,
  rule: Pick<Categorization, 'contains'>,
): Promise<Trial> {
  const { items } = await listExpenses(core, caller, { limit: triedMax });
  const find = ruleFinder([rule]);
  const matches = items.filter(({ description }) => find(description));
  const open = matches.filter(({ category }) => category === null).slice(0, appliedMax);
  return { matches, tried: items.length, open };
}

/** Gives its category to the expenses that the rule fits and that have none, and returns their number. */
export async function applyRule(core: Context, caller: Caller, rule: Categorization): Promise<number> {
  const { open } = await tryRule(core, caller, rule);
  let changed = 0;
  for (const { id, tags, version } of open) {
    const change = { category: rule.category, tags: withTags(tags, rule.tags), versions: [version] };
    // An expense that has changed since stays as it is.
    const done = await updateExpense(core, caller, id, change).catch(ignoreChanged);
    if (done) changed++;
  }
  return changed;
}

function ignoreChanged(error: unknown): undefined {
  const isChanged =
    error instanceof AppError && (error.code === 'precondition_failed' || error.code === 'not_found');
  if (!isChanged) throw error;
}

/** Throws `validation_failed` for a part that would be in every description. */
function checkPart(contains: string): void {
  if (comparable(contains) === '') throw invalid({ contains: 'must have letters, digits or signs' });
}

async function requireRule(session: Session<Tables>, owner: number, id: string): Promise<RuleRow> {
  const row = await ruleById(session, owner, id);
  if (!row) throw notFound('rule', id);
  return row;
}
