import type { Fields } from '../../errors.ts';

/** Collects what is wrong with a value, under the names that its sender wrote: `title`, `posts[17].title`. */
export class Problems {
  /** Absent while there is none. The first problem of a name stays. */
  fields: Record<string, string> | undefined;
  readonly #path: (string | number)[] = [];
  readonly #rootName: string;

  constructor(rootName: string) {
    this.#rootName = rootName;
  }

  enter(key: string | number): void {
    this.#path.push(key);
  }

  leave(): void {
    this.#path.pop();
  }

  /** Adds a problem of the value that is being read. */
  add(problem: string): undefined {
    const name = this.#name();
    this.fields ??= {};
    if (!Object.hasOwn(this.fields, name)) this.fields[name] = problem;
    return undefined;
  }

  /** Adds a problem of one key of the value that is being read. */
  addTo(key: string | number, problem: string): void {
    this.enter(key);
    this.add(problem);
    this.leave();
  }

  /** What `work` finds is tried only: its problems are handed back instead of being added. */
  trial(work: () => unknown): { value: unknown; fields: Fields | undefined } {
    const before = this.fields;
    this.fields = undefined;
    const value = work();
    const fields = this.fields as Fields | undefined;
    this.fields = before;
    return { value, fields };
  }

  /** Adds what a trial found. */
  addAll(fields: Fields): void {
    this.fields = { ...fields, ...this.fields };
  }

  #name(): string {
    if (this.#path.length === 0) return this.#rootName;
    return this.#path.reduce<string>((name, key) => {
      if (typeof key === 'number') return `${name}[${key}]`;
      return name === '' ? key : `${name}.${key}`;
    }, '');
  }
}
