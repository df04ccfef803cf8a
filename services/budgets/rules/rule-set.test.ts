import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NewExpense } from '../expenses/index.ts';
import type { Condition, RuleDefinition } from './rule.ts';
import { RuleSet } from './rule-set.ts';

function row(given: Partial<NewExpense> & { readonly text: string }): NewExpense {
  return {
    currency: 'EUR',
    description: given.text,
    minor: 1_000,
    category: null,
    tags: [],
    spentOn: '2026-03-31',
    notes: null,
    externalId: null,
    account: null,
    original: null,
    ...given,
  };
}

function rule(conditions: Condition[], given: Partial<RuleDefinition> = {}): RuleDefinition {
  return { conditions, match: 'all', set: { category: 'Hit' }, transfer: false, ...given };
}

async function isHit(conditions: Condition[], given: NewExpense, match: 'all' | 'any' = 'all') {
  const { expense } = await (await RuleSet.of([rule(conditions, { match })])).applyTo(given);
  return expense.category === 'Hit';
}

test('each operator fits what its name says', async () => {
  const rewe = row({ text: 'REWE Süd 4711', minor: 1_250, account: 'DE12 3456', tags: ['Weekly'] });
  const cases: [Condition, boolean][] = [
    [{ field: 'description', op: 'is', value: 'rewe sud  4711' }, true],
    [{ field: 'description', op: 'is', value: 'rewe' }, false],
    [{ field: 'description', op: 'starts', value: 'rewe' }, true],
    [{ field: 'description', op: 'ends', value: '4711' }, true],
    [{ field: 'description', op: 'ends', value: 'rewe' }, false],
    [{ field: 'description', op: 'matches', value: '^rewe .*\\d{4}$' }, true],
    [{ field: 'description', op: 'matches', value: 'rewe\\d' }, false],
    [{ field: 'payee', op: 'is', value: 'Rewe Süd' }, true],
    [{ field: 'payee', op: 'oneOf', value: ['Lidl', 'REWE SÜD'] }, true],
    [{ field: 'account', op: 'starts', value: 'DE12' }, true],
    [{ field: 'tag', op: 'is', value: 'weekly' }, true],
    [{ field: 'category', op: 'is', value: 'Food' }, false],
    [{ field: 'amount', op: 'is', value: 12.5 }, true],
    [{ field: 'amount', op: 'over', value: 12.5 }, false],
    [{ field: 'amount', op: 'under', value: '13' }, true],
    [{ field: 'amount', op: 'between', value: [12.5, 20] }, true],
    [{ field: 'day', op: 'is', value: 31 }, true],
    [{ field: 'day', op: 'oneOf', value: [1, 15] }, false],
  ];
  for (const [condition, expected] of cases)
    assert.equal(await isHit([condition], rewe), expected, JSON.stringify(condition));
  const [first, second] = [cases[0]?.[0], cases[1]?.[0]] as [Condition, Condition];
  assert.equal(await isHit([first, second], rewe), false);
  assert.equal(await isHit([first, second], rewe, 'any'), true);
  // Money that came in has an amount below 0 in a file.
  const back = row({ text: 'REWE', minor: -1_250 });
  assert.equal(await isHit([{ field: 'amount', op: 'is', value: 12.5 }], back), true);
});

test('what is no condition is refused with its place', async () => {
  const cases: [Condition, string][] = [
    [{ field: 'description', op: 'over', value: 'x' }, 'conditions[0].op'],
    [{ field: 'amount', op: 'contains', value: 1 }, 'conditions[0].op'],
    [{ field: 'amount', op: 'is', value: 'many' }, 'conditions[0].value'],
    [{ field: 'amount', op: 'between', value: [2, 1] }, 'conditions[0].value'],
    [{ field: 'day', op: 'is', value: 32 }, 'conditions[0].value'],
    [{ field: 'payee', op: 'oneOf', value: 'x' }, 'conditions[0].value'],
    [{ field: 'payee', op: 'is', value: ['x'] }, 'conditions[0].value'],
    [{ field: 'payee', op: 'matches', value: '(' }, 'conditions[0].value'],
    [{ field: 'payee', op: 'matches', value: '(?=a)b' }, 'conditions[0].value'],
    [{ field: 'payee', op: 'matches', value: '((a{0,30}){0,30})b' }, 'conditions[0].value'],
    [{ field: 'payee', op: 'contains', value: '\u0301' }, 'conditions[0].value'],
  ];
  for (const [condition, field] of cases)
    await assert.rejects(
      RuleSet.of([rule([condition])]),
      ({ fields }: { fields: object }) => field in fields,
    );
});

test('a pattern that would backtrack takes a number of steps that grows with the text', async () => {
  const set = await RuleSet.of([
    rule([{ field: 'description', op: 'matches', value: '^(a+)+$|(x|xx|y?)*z' }]),
  ]);
  // An engine that backtracks would go through 2 to the power of 499.
  const { expense } = await set.applyTo(row({ text: `${'a'.repeat(499)}!` }));
  assert.equal(expense.category, null);
});

const words = ['rewe', 'lidl', 'rent'];
const anyRule = fc.record({
  word: fc.constantFrom(...words),
  category: fc.option(fc.constantFrom('A', 'B', 'C'), { nil: undefined }),
  budgetId: fc.option(fc.constantFrom('one', 'two'), { nil: undefined }),
  description: fc.option(fc.constantFrom('New', 'Other'), { nil: undefined }),
  addTags: fc.option(fc.constantFrom(['x'], ['y', 'z']), { nil: undefined }),
  transfer: fc.boolean(),
});

test('each field is set by the first rule that fits and sets it', async () => {
  const property = fc.asyncProperty(
    fc.array(anyRule, { maxLength: 6 }),
    fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }),
    async (given, texts) => {
      const rules = given.map(({ word, transfer, budgetId, ...set }) =>
        rule([{ field: 'description', op: 'contains', value: word }], {
          set: JSON.parse(JSON.stringify({ ...set, budgetId: transfer ? undefined : budgetId })),
          transfer,
        }),
      );
      const text = texts.join(' ');
      const fitting = given.filter(({ word }) => texts.includes(word));
      const { expense, isTransfer } = await (await RuleSet.of(rules)).applyTo(row({ text }));
      const placing = fitting.find(({ budgetId, transfer }) => transfer || budgetId !== undefined);
      assert.equal(isTransfer, placing?.transfer === true);
      assert.equal(expense.budgetId, placing?.transfer ? undefined : placing?.budgetId);
      assert.equal(expense.category, fitting.find(({ category }) => category)?.category ?? null);
      assert.equal(expense.description, fitting.find(({ description }) => description)?.description ?? text);
      const tags = fitting.find(({ addTags }) => addTags)?.addTags ?? [];
      assert.deepEqual(expense.tags, isTransfer ? [...tags, 'transfer'] : tags);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});
