import { allOptional, field, isoTime, type Static, Type, withoutLabels } from '@octavo/core';
import { Id, Instant, nullable, Reference, text } from '../edges/schemas.ts';
import type { RuleRow } from '../store/tables.ts';

export const rulesMax = 200;
export const conditionsMax = 10;
const valuesMax = 50;

export const conditionFields = [
  'description',
  'payee',
  'amount',
  'account',
  'day',
  'category',
  'tag',
] as const;
export type ConditionField = (typeof conditionFields)[number];

export const conditionOps = [
  'is',
  'contains',
  'starts',
  'ends',
  'matches',
  'oneOf',
  'over',
  'under',
  'between',
] as const;
export type ConditionOp = (typeof conditionOps)[number];

const oneValue = [Type.Number(), text(200)] as const;

export const Condition = Type.Object(
  {
    field: Type.Enum(conditionFields, {
      description:
        'payee: the words at the start of the description, up to the first number; account: that of the imported file; day: of the month; tag: any of the tags',
    }),
    op: Type.Enum(conditionOps, {
      description:
        'Texts: is, contains, starts, ends and oneOf, in any case and with or without accents, and matches, a regular expression that takes linear time. Numbers: is, oneOf, over, under, between',
    }),
    value: Type.Union(
      [...oneValue, Type.Array(Type.Union([...oneValue]), { minItems: 1, maxItems: valuesMax })],
      {
        description: 'A text or a number; a list for oneOf, and two numbers for between',
        'x-problem': 'must be a text of 1 to 200 characters, a number, or a list of them',
        examples: ['REWE'],
      },
    ),
  },
  { title: 'RuleCondition' },
);
export type Condition = Static<typeof Condition>;

const setFields = {
  budgetId: Type.Optional(
    field('Budget', Type.String({ ...Reference, description: 'Budget of rows that are unassigned' })),
  ),
  category: Type.Optional(field('Category', text(100, { examples: ['Groceries'] }))),
  addTags: Type.Optional(Type.Array(text(50), { label: 'Tags', maxItems: 20, examples: [['food']] })),
  description: Type.Optional(field('New description', text(500))),
};

const RuleSets = Type.Object(withoutLabels(setFields), {
  title: 'RuleSets',
  description: 'The fields that the rule sets',
});
export type RuleSets = Static<typeof RuleSets>;

const place = {
  label: 'Place',
  minimum: 1,
  maximum: 1_000_000,
  description: 'Place among the rules, from 1 on; the last by default',
};

/** The fields of a rule that people write, as those of budgets. */
export const ruleFields = {
  conditions: Type.Optional(
    Type.Array(Condition, { label: 'Conditions', minItems: 1, maxItems: conditionsMax }),
  ),
  match: Type.Optional(
    Type.Enum(['all', 'any'], { label: 'Fits if', description: 'all by default: every condition must fit' }),
  ),
  set: Type.Optional(RuleSets),
  transfer: Type.Optional(
    Type.Boolean({
      label: 'Transfer',
      description: 'The rows are transfers between own accounts, neither income nor expense',
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ label: 'Enabled', description: 'true by default' })),
  position: Type.Optional(Type.Integer(place)),
};

/** The old form of a rule, short for one condition. */
const shortFields = {
  contains: Type.Optional(
    text(200, {
      label: 'Description contains',
      description: 'In place of conditions: a part of the description',
      examples: ['LIDL'],
    }),
  ),
  category: Type.Optional(
    field('Category', text(100, { description: 'Short for set.category', examples: ['Groceries'] })),
  ),
  tags: Type.Optional(
    Type.Array(text(50), {
      label: 'Tags',
      maxItems: 20,
      description: 'Short for set.addTags',
      examples: [['food']],
    }),
  ),
};

/** All fields that a form of a rule may name. */
export const formFieldsOfRule = { ...ruleFields, ...shortFields, ...setFields };

const inputFields = withoutLabels({ ...ruleFields, ...shortFields });

export const Rule = Type.Object(
  {
    id: Id,
    position: Type.Integer({
      examples: [1],
      description: 'Each field is set by the first rule that sets it',
    }),
    conditions: Type.Array(Condition),
    match: Type.Enum(['all', 'any']),
    set: RuleSets,
    transfer: Type.Boolean(),
    enabled: Type.Boolean(),
    createdAt: Instant,
    updatedAt: Instant,
    version: Type.Integer({ examples: [1] }),
  },
  { title: 'Rule' },
);
export type Rule = Static<typeof Rule>;

export const RuleInput = Type.Object(inputFields, {
  title: 'RuleInput',
  description: 'Conditions and what the rule sets; or contains, category and tags, short for one condition',
});
export type RuleInput = Static<typeof RuleInput>;

export const RulePatch = Type.Object(allOptional(inputFields), {
  title: 'RulePatch',
  description: 'Fields that are left out stay unchanged',
});
export type RulePatch = Static<typeof RulePatch>;

/** The budgets of payees, by name, as the page of unassigned expenses sends them. */
export const SortingInput = Type.Object({
  payees: Type.Array(
    Type.Object({
      payee: text(200),
      currency: Type.String({ minLength: 3, maxLength: 3 }),
      budget: text(120),
    }),
    { minItems: 1, maxItems: 50 },
  ),
});

export const ApplyRequest = Type.Object(
  { dryRun: Type.Optional(Type.Boolean({ description: 'Counts, and changes nothing' })) },
  { title: 'RuleApplication' },
);

export const ApplyResult = Type.Object(
  {
    matched: Type.Integer({ description: 'Number of expenses that the rule fits' }),
    changed: Type.Integer({ description: 'Number of expenses that it changed, or would change' }),
    undo: nullable(Type.String({ description: 'Token for POST /api/expenses/bulk/undo, for 24 hours' })),
  },
  { title: 'RuleResult' },
);
export type ApplyResult = Static<typeof ApplyResult>;

/** The part of a rule that says which rows it fits, and what becomes of them. */
export type RuleDefinition = Pick<Rule, 'conditions' | 'match' | 'set' | 'transfer'>;

/** The definition of a rule in the old form. */
export function shortRule(given: {
  contains: string;
  category: string;
  tags: readonly string[];
}): RuleDefinition {
  const { contains, category, tags } = given;
  return {
    conditions: [{ field: 'description', op: 'contains', value: contains }],
    match: 'all',
    set: { category, ...(tags.length > 0 && { addTags: [...tags] }) },
    transfer: false,
  };
}

export function toRule(row: RuleRow): Rule {
  const { id, position, contains, category, version, conditions, sets } = row;
  const definition =
    conditions === null || sets === null
      ? shortRule({ contains, category, tags: JSON.parse(row.tags) })
      : { conditions: JSON.parse(conditions), set: JSON.parse(sets) };
  return {
    id,
    position,
    conditions: definition.conditions,
    match: row.match_any === 1 ? 'any' : 'all',
    set: definition.set,
    transfer: row.transfer === 1,
    enabled: row.enabled === 1,
    createdAt: isoTime(row.created_at_ms),
    updatedAt: isoTime(row.updated_at_ms),
    version,
  };
}

/** The columns of a definition. */
export function columnsOf({ conditions, match, set, transfer }: RuleDefinition) {
  return {
    contains: '',
    category: '',
    tags: '[]',
    conditions: JSON.stringify(conditions),
    sets: JSON.stringify(set),
    match_any: Number(match === 'any'),
    transfer: Number(transfer),
  };
}
