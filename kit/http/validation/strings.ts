import { formats } from './formats.ts';
import type { Problems } from './problems.ts';
import type { JsonSchema, Read } from './schema.ts';

/** Reads text. Its length is counted in Unicode code points, as JSON Schema does. */
export function stringReader(schema: JsonSchema): Read {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const checks = [patternCheck(schema), formatCheck(schema)].filter((check) => check !== undefined);
  return (value, problems) => {
    if (typeof value !== 'string') return problems.add('must be a string');
    if (isShorter(value, minLength)) return problems.add(`must be at least ${count(minLength)}`);
    if (isLonger(value, maxLength)) return problems.add(`must be at most ${count(maxLength)}`);
    for (const check of checks) check(value, problems);
    return value;
  };
}

type Check = (value: string, problems: Problems) => void;

function patternCheck(schema: JsonSchema): Check | undefined {
  if (schema.pattern === undefined) return undefined;
  const pattern = new RegExp(schema.pattern, 'u');
  const problem = schema['x-problem'] ?? `must match ${schema.pattern}`;
  return (value, problems) => {
    if (!pattern.test(value)) problems.add(problem);
  };
}

function formatCheck(schema: JsonSchema): Check | undefined {
  if (schema.format === undefined) return undefined;
  const format = formats.get(schema.format);
  if (!format) throw new Error(`schema format ${schema.format} is not known here: it would not be checked`);
  return (value, problems) => {
    if (!format.holds(value)) problems.add(format.problem);
  };
}

function isShorter(value: string, minLength: number): boolean {
  if (value.length < minLength) return true;
  return value.length < 2 * minLength && codePoints(value) < minLength;
}

function isLonger(value: string, maxLength: number): boolean {
  if (value.length <= maxLength) return false;
  return value.length > 2 * maxLength || codePoints(value) > maxLength;
}

function codePoints(value: string): number {
  let points = value.length;
  for (let index = 1; index < value.length; index++) {
    if (isLow(value.charCodeAt(index)) && isHigh(value.charCodeAt(index - 1))) points--;
  }
  return points;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function count(length: number): string {
  return length === 1 ? '1 character' : `${length} characters`;
}
