import type { Static, TSchema } from '@octavo/core';
import { AppError, type Fields } from '@octavo/core';
import { compileValidator } from '@octavo/web/validation';

/**
 * Compiles a schema to a function that returns a value of it, for input that does not come through a route with that schema. It
 * validates as routes do: nothing is coerced, unknown keys are removed, defaults are filled in, and the given value may be changed
 * in place. Throws `validation_failed` with `fields`.
 */
export function createParser<S extends TSchema>(schema: S): (given: unknown) => Static<S> {
  const validate = compileValidator(schema);
  return (given) => {
    const validation = validate(given);
    if (validation.fields) throw invalid(validation.fields);
    return validation.value;
  };
}

/** A `validation_failed` error about some fields, with a message that names the first three. */
export function invalid({ '': ofAll, ...fields }: Fields): AppError {
  if (ofAll !== undefined) return new AppError('validation_failed', `The input ${ofAll}.`);
  const lines = Object.entries(fields).map(([name, problem]) => `${name} ${problem}`);
  const more = lines.length > 3 ? `; ${lines.length - 3} more` : '';
  return new AppError('validation_failed', `${lines.slice(0, 3).join('; ')}${more}`, { fields });
}

export const textProblem = 'must be well-formed Unicode without U+0000';

/**
 * Returns the path of the first string that a database cannot store. Routes of REST check this by their schemas (`format:
 * 'text'`).
 */
export function findUnsafeText(given: object): readonly string[] | undefined {
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'))) return [name];
    const inner = typeof value === 'object' && value !== null ? findUnsafeText(value) : undefined;
    if (inner) return [name, ...inner];
  }
  return undefined;
}
