import type { Fields } from '@octavo/core';
import type { RE2JS } from 're2js';
import { invalid } from '../edges/schema-parser.ts';
import { comparable, payeeOf } from './matching.ts';
import type { Condition, ConditionField, ConditionOp } from './rule.ts';

/** Subject of the conditions of a rule: a row of a file, or an expense. */
export interface Subject {
  readonly description: string;
  /** In units of the currency, never below 0. */
  readonly amount: number;
  readonly account: string | null;
  readonly spentOn: string;
  readonly category: string | null;
  readonly tags: readonly string[];
  /** Texts as they are compared, which many rules look at. */
  readonly comparable: (text: string) => string;
}

export type Test = (subject: Subject) => boolean;

const numberFields: readonly ConditionField[] = ['amount', 'day'];
const numberOps: readonly ConditionOp[] = ['is', 'oneOf', 'over', 'under', 'between'];
const textOps: readonly ConditionOp[] = ['is', 'contains', 'starts', 'ends', 'matches', 'oneOf'];

/** The operators that a field has. */
export function opsOf(field: ConditionField): readonly ConditionOp[] {
  return numberFields.includes(field) ? numberOps : textOps;
}

export function isNumeric(field: ConditionField): boolean {
  return numberFields.includes(field);
}

/** Instructions of a compiled pattern: one with large nested repetitions would take a millisecond for each text. */
const programMax = 1_000;

/** Compiles conditions. Throws `validation_failed` for what is no condition, with its place. */
export async function compileConditions(conditions: readonly Condition[]): Promise<Test[]> {
  const hasPattern = conditions.some(({ op }) => op === 'matches');
  // The engine takes 30 ms to load, and most rules have no pattern.
  const engine = hasPattern ? (await import('re2js')).RE2JS : undefined;
  const fields: Record<string, string> = {};
  const tests = conditions.map((condition, index) => {
    const made = testOf(condition, engine);
    if (typeof made === 'function') return made;
    const [[name, problem] = ['', '']] = Object.entries(made);
    fields[`conditions[${index}].${name}`] = problem as string;
    return () => false;
  });
  if (Object.keys(fields).length > 0) throw invalid(fields);
  return tests;
}

type Engine = typeof RE2JS | undefined;

/** The test of a condition, or the problem with its `op` or `value`. */
function testOf(condition: Condition, engine: Engine): Test | Fields {
  const { field, op } = condition;
  const ops = opsOf(field);
  if (!ops.includes(op)) return { op: `must be one of ${ops.join(', ')} for ${field}` };
  if (Array.isArray(condition.value) !== (op === 'oneOf' || op === 'between'))
    return {
      value: op === 'oneOf' || op === 'between' ? `must be a list for ${op}` : `must not be a list for ${op}`,
    };
  return numberFields.includes(field) ? numberTest(condition) : textTest(condition, engine);
}

function numberTest({ field, op, value }: Condition): Test | Fields {
  const values = [value]
    .flat()
    .map((each) => (typeof each === 'string' && each.trim() === '' ? Number.NaN : Number(each)));
  if (values.some((each) => !Number.isFinite(each))) return { value: 'must be a number, such as 12.50' };
  if (field === 'day' && values.some((each) => !Number.isInteger(each) || each < 1 || each > 31))
    return { value: 'must be a day of the month, 1 to 31' };
  if (op === 'between' && values.length !== 2)
    return { value: 'must have two numbers, the smaller one first' };
  const [first = 0, last = first] = values;
  if (op === 'between' && last < first) return { value: 'must have two numbers, the smaller one first' };
  const isFit = numberMatcher(op, values);
  if (field === 'day') return ({ spentOn }) => isFit(Number(spentOn.slice(8)));
  return ({ amount }) => isFit(amount);
}

function numberMatcher(op: ConditionOp, values: readonly number[]): (given: number) => boolean {
  const [first = 0, last = first] = values;
  if (op === 'over') return (given) => given > first;
  if (op === 'under') return (given) => given < first;
  if (op === 'between') return (given) => given >= first && given <= last;
  return (given) => values.includes(given);
}

function textTest({ field, op, value }: Condition, engine: Engine): Test | Fields {
  const texts = [value].flat().map(String);
  const isFit = op === 'matches' ? patternMatcher(texts[0] ?? '', engine) : textMatcher(op, texts);
  if (typeof isFit !== 'function') return isFit;
  return (subject) => textsOf(field, subject).some((text) => isFit(text, subject.comparable));
}

type TextTest = (text: string, asCompared: (text: string) => string) => boolean;

function textMatcher(op: ConditionOp, texts: readonly string[]): TextTest | Fields {
  const parts = texts.map(comparable);
  const [part = ''] = parts;
  // An accent alone would be in every text.
  if (parts.some((each) => each === '')) return { value: 'must have letters, digits or signs' };
  if (op === 'contains') return (text, asCompared) => asCompared(text).includes(part);
  if (op === 'starts') return (text, asCompared) => asCompared(text).startsWith(part);
  if (op === 'ends') return (text, asCompared) => asCompared(text).endsWith(part);
  return (text, asCompared) => parts.includes(asCompared(text));
}

function patternMatcher(pattern: string, engine: Engine): TextTest | Fields {
  if (!engine) throw new Error('the engine of patterns is not loaded');
  try {
    const compiled = engine.compile(pattern, engine.CASE_INSENSITIVE);
    if (compiled.programSize() > programMax)
      return { value: 'is too large: use fewer or smaller repetitions' };
    return (text) => compiled.test(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : '';
    return { value: `must be a regular expression: ${reason}` };
  }
}

function textsOf(field: ConditionField, subject: Subject): readonly string[] {
  if (field === 'payee') return [payeeOf(subject.description)];
  if (field === 'tag') return subject.tags;
  const text =
    field === 'account' ? subject.account : field === 'category' ? subject.category : subject.description;
  return text === null ? [] : [text];
}
