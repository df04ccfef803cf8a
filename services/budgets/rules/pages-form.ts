import { AppError } from '@octavo/core';
import { readNumber } from '@octavo/documents/values';
import { createParser, invalid } from '../edges/schema-parser.ts';
import { filled, type PageVisit, readingOfReader, typedTags } from '../site/page-context.ts';
import { isNumeric } from './conditions.ts';
import {
  type Condition,
  type ConditionField,
  conditionsMax,
  type Rule,
  type RuleDefinition,
  RuleInput,
} from './rule.ts';
import { definitionOf } from './rules.ts';

const parseInput = createParser(RuleInput);

/** A condition as it stands in the form. */
export interface TypedCondition {
  readonly field: string;
  readonly op: string;
  readonly value: string;
}

export type FormValues = Readonly<Record<string, string | undefined>>;

/** The name of a control, as errors name the field. */
export function nameIn(index: number, part: keyof TypedCondition): string {
  return `conditions[${index}].${part}`;
}

/** The conditions that are typed in a form, without those that have no value. */
export function typedConditions(values: FormValues): TypedCondition[] {
  const all = Array.from({ length: conditionsMax }, (_, index) => ({
    field: values[nameIn(index, 'field')] ?? '',
    op: values[nameIn(index, 'op')] ?? '',
    value: (values[nameIn(index, 'value')] ?? '').trim(),
  }));
  return all.filter(({ value }) => value !== '');
}

/** Reads the form as a body of the API. Throws `validation_failed`. */
export function inputOf(visit: PageVisit): RuleInput {
  const { budgetId, description, category, match } = filled(visit, [
    'budgetId',
    'description',
    'category',
    'match',
  ]);
  return parseInput({
    conditions: conditionsOf(typedConditions(visit.fields())),
    match,
    set: { ...(budgetId !== undefined && { budgetId }), ...(description !== undefined && { description }) },
    ...(category !== undefined && { category }),
    tags: typedTags(visit.field('tags')),
    transfer: visit.field('transfer') === 'true',
    enabled: visit.field('enabled') === 'true',
  });
}

/** The rule that a form describes, to try it; undefined while it is none. */
export async function triedRule(values: FormValues): Promise<RuleDefinition | undefined> {
  try {
    const conditions = conditionsOf(typedConditions(values)) as Condition[];
    if (conditions.length === 0) return undefined;
    const { budgetId, category, description } = values;
    const tags = (values.tags ?? '')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '');
    const isTransfer = values.transfer === 'true';
    return await definitionOf({
      conditions,
      match: values.match === 'any' ? 'any' : 'all',
      // One that sets nothing yet can be tried too.
      set: {
        ...(budgetId && !isTransfer && { budgetId }),
        ...(category && { category }),
        ...(description && { description }),
        addTags: tags,
      },
      transfer: isTransfer || [budgetId, category, description, ...tags].every((value) => !value),
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
    return undefined;
  }
}

/** The conditions as the API takes them: lists are separated by semicolons, and numbers are as the reader writes them. */
function conditionsOf(typed: readonly TypedCondition[]): unknown[] {
  return typed.map(({ field, op, value }, index) => {
    const isList = op === 'oneOf' || op === 'between';
    const texts = isList ? value.split(';').map((part) => part.trim()) : [value];
    const values = isNumeric(field as ConditionField) ? texts.map((text) => numberOf(text, index)) : texts;
    return { field, op, value: isList ? values : values[0] };
  });
}

function numberOf(text: string, index: number): number {
  const read = readNumber(text, readingOfReader());
  if (read.problem !== undefined) throw invalid({ [nameIn(index, 'value')]: read.problem });
  return Number(read.text);
}

/** The fields of a form for a rule that is there. */
export function savedValues({ conditions, match, set, transfer, enabled }: Rule): FormValues {
  const { decimal = '.' } = readingOfReader();
  const written = (value: string | number) =>
    typeof value === 'number' ? String(value).replace('.', decimal) : value;
  const typed = conditions.flatMap(({ field, op, value }, index) => [
    [nameIn(index, 'field'), field],
    [nameIn(index, 'op'), op],
    [nameIn(index, 'value'), [value].flat().map(written).join('; ')],
  ]);
  return {
    ...Object.fromEntries(typed),
    match,
    budgetId: set.budgetId,
    category: set.category,
    tags: set.addTags?.join(', '),
    description: set.description,
    transfer: String(transfer),
    enabled: String(enabled),
  };
}
