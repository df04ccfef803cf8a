import { readFileSync } from 'node:fs';

/** A rule, with its code and what stands in the place of that where it is switched off. */
export interface Rule {
  readonly name: string;
  /** End of the path of its module. */
  readonly file: string;
  readonly code: string;
  readonly without: string;
}

/** The rules about language, a line of `rules.jsonl` each. */
export const rules: readonly Rule[] = readFileSync(new URL('rules.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Rule);
