import type { Problems } from './problems.ts';
import type { JsonSchema, Read } from './schema.ts';

/** Reads a number; an integer must be one that a double holds exactly. */
export function numberReader(schema: JsonSchema): Read {
  const isInteger = schema.type === 'integer';
  const checks = boundChecks(schema);
  return (value, problems) => {
    if (typeof value !== 'number')
      return problems.add(isInteger ? 'must be a whole number' : 'must be a number');
    if (!Number.isFinite(value)) return problems.add('must be a number in range');
    if (isInteger && !Number.isInteger(value)) return problems.add('must be a whole number');
    for (const check of checks) check(value, problems);
    if (isInteger && !Number.isSafeInteger(value)) {
      return problems.add(`must be from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`);
    }
    return value;
  };
}

type Check = (value: number, problems: Problems) => void;

function boundChecks(schema: JsonSchema): Check[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  return [
    check(minimum, (value, bound) => value >= bound, 'must be at least'),
    check(maximum, (value, bound) => value <= bound, 'must be at most'),
    check(exclusiveMinimum, (value, bound) => value > bound, 'must be more than'),
    check(exclusiveMaximum, (value, bound) => value < bound, 'must be less than'),
    check(multipleOf, (value, bound) => Number.isInteger(value / bound), 'must be a multiple of'),
  ].filter((each) => each !== undefined);
}

function check(
  bound: number | undefined,
  holds: (value: number, bound: number) => boolean,
  problem: string,
): Check | undefined {
  if (bound === undefined) return undefined;
  return (value, problems) => {
    if (!holds(value, bound)) problems.add(`${problem} ${bound}`);
  };
}
