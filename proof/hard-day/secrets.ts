import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Keys of JSON whose values are secrets. */
const secretKey = /token|secret|password|access|refresh|code/i;
/** Shorter values, such as codes of six digits, stand in logs by chance. */
const lengthMin = 10;
/** Characters that no secret has. A padding is left out. */
const separator = /[^\w.~+/-]+/;

/** Passwords, keys and tokens of a run, and the places in its logs that tell one. */
export class Secrets {
  readonly #words = new Set<string>();
  readonly #phrases = new Set<string>();

  get count(): number {
    return this.#words.size + this.#phrases.size;
  }

  add(secret: string): void {
    const [word = '', ...more] = secret.split(separator).filter((part) => part !== '');
    if (secret.length < lengthMin) return;
    if (more.length > 0) this.#phrases.add(secret);
    else this.#words.add(word);
  }

  /** Adds the values of JSON that are secrets by their keys. */
  addFrom(json: unknown, isSecret = false): void {
    if (typeof json === 'string' && isSecret) this.add(json);
    if (typeof json !== 'object' || json === null) return;
    for (const [key, value] of Object.entries(json))
      this.addFrom(value, Array.isArray(json) ? isSecret : secretKey.test(key));
  }

  /** Log lines of a folder that tell a secret, with the number of lines that were searched. */
  async searchLogs(folder: string): Promise<{ readonly lines: number; readonly found: readonly string[] }> {
    const found: string[] = [];
    let lines = 0;
    for (const name of readdirSync(folder)) {
      for await (const line of createInterface({ input: createReadStream(join(folder, name)) })) {
        lines++;
        const secret =
          line.split(separator).find((word) => this.#words.has(word)) ??
          [...this.#phrases].find((phrase) => line.includes(phrase));
        if (secret !== undefined) found.push(`${name}: ${line.replaceAll(secret, '[SECRET]').slice(0, 400)}`);
      }
    }
    return { lines, found };
  }
}
