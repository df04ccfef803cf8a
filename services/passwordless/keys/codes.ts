export const codeDigits = 6;

/** The digits of a code without the spaces and hyphens that people type; undefined if they are not six. */
export function sixDigits(given: string): string | undefined {
  const digits = given.replace(/[\s-]/g, '');
  return /^[0-9]{6}$/.test(digits) ? digits : undefined;
}
