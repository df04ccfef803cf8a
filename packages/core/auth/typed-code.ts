/**
 * The digits of a code as people type or paste it: without spaces and dashes, also full-width ones of an East Asian keyboard. Undefined
 * if they are not as many as the code has.
 */
export function typedDigits(given: string, count = 6): string | undefined {
  if (given.length > 100) return undefined;
  const digits = given.normalize('NFKC').replace(/[\s\p{Pd}]/gu, '');
  return digits.length === count && /^[0-9]+$/.test(digits) ? digits : undefined;
}
