import { readFileSync } from 'node:fs';

let known: string | undefined;

/** The version of the product, as its package.json has it, such as `0.1.0`. */
export function productVersion(): string {
  if (known === undefined) {
    const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
    known = String((JSON.parse(text) as { version: unknown }).version);
  }
  return known;
}
