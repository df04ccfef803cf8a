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
