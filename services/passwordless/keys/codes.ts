import { typedDigits } from '@octavo/core/auth';

export const codeDigits = 6;

/** The digits of a code as people type it; undefined if they are not six. */
export function sixDigits(given: string): string | undefined {
  return typedDigits(given, codeDigits);
}
