import { setImmediate as nextTurn } from 'node:timers/promises';
import { toMajor } from '@octavo/documents/values';
import { isTransfer, transferTag } from '../budgets/index.ts';
import type { ExpensePatch, ExpenseWithBudget, NewExpense } from '../expenses/index.ts';
import { compileConditions, type Subject, type Test } from './conditions.ts';
import { comparable, withTags } from './matching.ts';
import type { RuleDefinition } from './rule.ts';

/** Time after which other requests get their turn. */
const sliceMs = 10;

/** A rule with its conditions compiled. */
interface CompiledRule {
  readonly rule: RuleDefinition;
  readonly fits: Test;
}

/** Fields that rules set. */
interface Effect {
  budgetId?: string;
  category?: string;
  description?: string;
  addTags?: readonly string[];
  isTransfer?: boolean;
}

/** A row of a file after the rules. */
export interface RuledRow {
  readonly expense: NewExpense;
  /** True if a rule says that it is a transfer between own accounts. */
  readonly isTransfer: boolean;
}

/** Rules in their order. */
export class RuleSet {
  readonly #rules: readonly CompiledRule[];
  #sinceMs = performance.now();

  private constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules;
  }

  static async of(rules: readonly RuleDefinition[]): Promise<RuleSet> {
    return new RuleSet(await Promise.all(rules.map(compile)));
  }

  /** Applies the rules to a row of a file. What the file says of category and tags stays. */
  async applyTo(expense: NewExpense): Promise<RuledRow> {
    if (this.#rules.length === 0) return { expense, isTransfer: false };
    const effect = await this.#effectOn(subjectOfRow(expense));
    const { budgetId, category, description, addTags = [] } = effect;
    const tags = effect.isTransfer ? [...addTags, transferTag] : addTags;
    return {
      expense: {
        ...expense,
        ...(budgetId !== undefined && { budgetId }),
        description: description ?? expense.description,
        category: expense.category ?? category ?? null,
        tags: withTags(expense.tags, tags),
      },
      isTransfer: effect.isTransfer === true,
    };
  }

  /** True if one of the rules fits an expense. */
  async fits(expense: ExpenseWithBudget): Promise<boolean> {
    const subject = subjectOf(expense);
    for (const { fits } of this.#rules) {
      await this.#pause();
      if (fits(subject)) return true;
    }
    return false;
  }

  /** Fields that the rules set in an expense that is there: each field is set by the first rule that fits and sets it. */
  effectOn(expense: ExpenseWithBudget): Promise<Effect> {
    return this.#effectOn(subjectOf(expense));
  }

  async #effectOn(subject: Subject): Promise<Effect> {
    const effect: Effect = {};
    for (const { rule, fits } of this.#rules) {
      await this.#pause();
      if (!fits(subject)) continue;
      const { budgetId, category, description, addTags } = rule.set;
      const hasPlace = effect.budgetId !== undefined || effect.isTransfer === true;
      if (!hasPlace && rule.transfer) effect.isTransfer = true;
      else if (!hasPlace && budgetId !== undefined) effect.budgetId = budgetId;
      if (category !== undefined) effect.category ??= category;
      if (description !== undefined) effect.description ??= description;
      if (addTags !== undefined) effect.addTags ??= addTags;
    }
    return effect;
  }

  async #pause(): Promise<void> {
    if (performance.now() - this.#sinceMs < sliceMs) return;
    await nextTurn();
    this.#sinceMs = performance.now();
  }
}

/** Compiles a rule. Throws `validation_failed`. */
export async function compile(rule: RuleDefinition): Promise<CompiledRule> {
  const tests = await compileConditions(rule.conditions);
  const fits: Test =
    rule.match === 'any'
      ? (subject) => tests.some((test) => test(subject))
      : (subject) => tests.every((test) => test(subject));
  return { rule, fits };
}

/**
 * The change that a rule makes to an expense that it fits: it fills in what is empty, adds tags and renames. Undefined if there is nothing
 * to change. `currency` is that of the rule's budget.
 */
export function changeBy(
  { set, transfer }: RuleDefinition,
  expense: ExpenseWithBudget,
  currency: string | undefined,
): ExpensePatch | undefined {
  const tags = JSON.parse(expense.tags) as string[];
  const isOpen = expense.budget_id === null && !isTransfer(tags);
  const more = [...(set.addTags ?? []), ...(transfer && isOpen ? [transferTag] : [])];
  const all = withTags(tags, more);
  const { budgetId, category, description } = set;
  const patch = {
    ...(budgetId !== undefined && isOpen && expense.currency === currency && { budgetId }),
    ...(category !== undefined && expense.category === null && { category }),
    ...(description !== undefined && expense.description !== description && { description }),
    ...(all.length > tags.length && { tags: all }),
  };
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function subjectOfRow({ text, description, minor, currency, ...row }: NewExpense): Subject {
  const amount = toMajor(Math.abs(minor), currency);
  return { ...row, description: text || description, amount, comparable: kept() };
}

function subjectOf(expense: ExpenseWithBudget): Subject {
  return {
    description: expense.description,
    amount: toMajor(Math.abs(expense.amount_minor), expense.currency),
    account: expense.file_account ?? null,
    spentOn: expense.spent_on,
    category: expense.category,
    tags: JSON.parse(expense.tags),
    comparable: kept(),
  };
}

/** Returns {@link comparable} that remembers its results. */
function kept(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const found = known.get(text) ?? comparable(text);
    known.set(text, found);
    return found;
  };
}
