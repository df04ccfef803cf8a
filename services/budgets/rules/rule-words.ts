import {
  type Condition,
  type ConditionField,
  conditionFields,
  type conditionOps,
  type Rule,
} from './rule.ts';

const fieldNames: Readonly<Record<ConditionField, string>> = {
  description: 'Description',
  payee: 'Payee',
  amount: 'Amount',
  account: 'Account',
  day: 'Day of the month',
  category: 'Category',
  tag: 'A tag',
};

const opNames: Readonly<Record<(typeof conditionOps)[number], string>> = {
  contains: 'contains',
  is: 'is',
  starts: 'starts with',
  ends: 'ends with',
  matches: 'matches the pattern',
  oneOf: 'is one of',
  over: 'is over',
  under: 'is under',
  between: 'is between',
};

export const fieldChoices = conditionFields.map((name) => [name, fieldNames[name]] as const);
export const opChoices = (Object.keys(opNames) as (keyof typeof opNames)[]).map(
  (name) => [name, opNames[name]] as const,
);

/** A rule in words: the text that a description contains, or a sentence. */
export function nameOf({ conditions, match }: Pick<Rule, 'conditions' | 'match'>): string {
  const [first] = conditions;
  if (conditions.length === 1 && first?.field === 'description' && first.op === 'contains')
    return String(first.value);
  return conditions.map(inWords).join(match === 'any' ? ' or ' : ' and ');
}

function inWords({ field, op, value }: Condition): string {
  const values = [value].flat();
  const written = op === 'between' ? values.join(' and ') : values.join(', ');
  return `${fieldNames[field]} ${opNames[op]} ${written}`;
}
