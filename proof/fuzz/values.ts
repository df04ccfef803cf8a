import type { Random } from '../random.ts';

/** A schema of `/openapi.json`, with the keywords that are read here. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** A part of JSON that `JSON.stringify` would not write. */
class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Text that must be escaped wherever a page shows it. */
export const markup = '<fuzz-mark onload=x>"\'&amp;';

export const oddTexts: readonly string[] = [
  '',
  ' ',
  '\t\r\n',
  '0',
  '-1',
  '1e400',
  '9'.repeat(400),
  '1.0000000000000000001',
  'NaN',
  'Infinity',
  'null',
  'true',
  markup,
  '{{7*7}}#{7*7}<%= 7*7 %>',
  "' OR 1=1 --",
  '"; DROP TABLE users; --',
  '%',
  '%00',
  '%ff%fe',
  '../../../../etc/passwd',
  '..\\..\\windows\\win.ini',
  '//evil.example/a',
  'javascript:alert(1)',
  'http://169.254.169.254/latest/meta-data/',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff\ud800y',
  '\u202egnp.exe',
  '\u200b\u2060\ufeff',
  '\u3164\u2800',
  'e\u0301\u0323'.repeat(200),
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  'ﷺ'.repeat(300),
  'İıſK',
  'a'.repeat(65_536),
  ' '.repeat(20_000),
  '(a+)+$',
  '"unclosed phrase',
  '-- * NOT NEAR( OR',
  "=cmd|' /C calc'!A0",
  'a\r\nSet-Cookie: a=b',
  '0000-00-00',
  '2026-02-30',
  '9999-12-31T23:59:59.999999999Z',
  '+275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  'ada@example.com',
  'a@b',
  '00000000-0000-0000-0000-000000000000',
];

const oddNumbers: readonly unknown[] = [
  0,
  -1,
  1,
  1.5,
  -0.000001,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e21,
  1e308,
  ...['1e400', '-0', '1E-400', '9'.repeat(400), '0.1000000000000000055511151231257827'].map(
    (text) => new Raw(text),
  ),
];

/** Values of every type that no field asks for. */
function oddValue(random: Random): unknown {
  const depth = random.pick([3, 100, 5_000]);
  return random.pick<() => unknown>([
    () => null,
    () => true,
    () => false,
    () => random.pick(oddTexts),
    () => random.pick(oddTexts),
    () => random.pick(oddNumbers),
    () => random.pick(oddNumbers),
    () => [],
    () => ({}),
    () => [random.pick(oddTexts), null, random.pick(oddNumbers)],
    () => Array.from({ length: 2_000 }, (_, index) => index),
    () => new Raw(`${'['.repeat(depth)}${']'.repeat(depth)}`),
    () => new Raw(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
    () => new Raw('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"a":1}}}'),
    () => new Raw('{"a":1,"a":2,"toString":null}'),
    () => new Raw('"\\ud800\\u0000"'),
    () => Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key${index}`, index])),
  ])();
}

/** Values for schemas: most of them valid, the others odd. */
export class Values {
  readonly #random: Random;
  readonly #schemas: Readonly<Record<string, Schema>>;
  /** Ids that responses had, so that some requests find something. */
  readonly #ids: unknown[] = [];

  constructor(random: Random, schemas: Readonly<Record<string, Schema>> = {}) {
    this.#random = random;
    this.#schemas = schemas;
  }

  /** Keeps the ids in a response. */
  learn(body: unknown, depth = 0): void {
    if (typeof body !== 'object' || body === null || depth > 4) return;
    for (const [key, value] of Object.entries(body).slice(0, 50)) {
      if (/(^|_|[a-z])id$|key$/i.test(key) && ['string', 'number'].includes(typeof value)) {
        if (this.#ids.length < 300) this.#ids.push(value);
        else this.#ids[this.#random.below(300)] = value;
      }
      this.learn(value, depth + 1);
    }
  }

  /** A known id, or something else. */
  id(): string {
    return this.#ids.length > 0 && this.#random.chance(0.75)
      ? String(this.#random.pick(this.#ids))
      : this.text();
  }

  text(): string {
    return this.#random.pick(oddTexts);
  }

  /** A value for a schema. `oddness` is the probability that it, or a value in it, is odd. */
  of(given: Schema | undefined, oddness: number, name = ''): unknown {
    const random = this.#random;
    const schema = this.#resolve(given);
    if (random.chance(oddness)) return oddValue(random);
    if (
      /(^|[a-z_])ids?$/i.test(name) &&
      this.#ids.length > 0 &&
      schema.type !== 'array' &&
      random.chance(0.7)
    )
      return random.pick(this.#ids);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return random.pick(schema.enum);
    if (schema.examples?.length && random.chance(0.3)) return random.pick(schema.examples);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return this.of(random.pick(choices), oddness, name);
    const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
    if (type === 'object' || schema.properties) return this.#object(schema, oddness);
    if (type === 'array') return this.#array(schema, oddness, name);
    if (type === 'string') return this.#string(schema);
    if (type === 'integer' || type === 'number') return this.#number(schema, type === 'integer');
    if (type === 'boolean') return random.chance(0.5);
    if (type === 'null') return null;
    return oddValue(random);
  }

  #resolve(schema: Schema = {}): Schema {
    if (schema.$ref) return this.#resolve(this.#schemas[schema.$ref.split('/').at(-1) as string]);
    return schema.allOf
      ? Object.assign({}, schema, ...schema.allOf.map((each) => this.#resolve(each)))
      : schema;
  }

  #object({ properties = {}, required = [] }: Schema, oddness: number): object {
    const entries = Object.entries(properties)
      .filter(([name]) => this.#random.chance(required.includes(name) ? 0.98 : 0.5))
      .map(([name, schema]) => [name, this.of(schema, oddness, name)]);
    if (this.#random.chance(0.05)) entries.push(['isAdmin', true], ['id', 1], ['owner_id', 1]);
    return Object.fromEntries(entries);
  }

  #array({ items, maxItems = 5, examples }: Schema, oddness: number, name: string): unknown {
    if (examples?.length && this.#random.chance(0.3)) return examples[0];
    const length = this.#random.pick([0, 1, 1, 2, 3, Math.min(maxItems, 300) + 1]);
    return Array.from({ length }, () => this.of(items, oddness, name));
  }

  #string({ format, minLength = 0, maxLength = 200, examples }: Schema): string {
    const random = this.#random;
    if (examples?.length && random.chance(0.5)) return String(random.pick(examples));
    if (format === 'uuid') return crypto.randomUUID();
    if (format === 'date') return random.pick(['2026-01-31', '2024-02-29', '0001-01-01', '9999-12-31']);
    if (format === 'date-time') return random.pick(['2026-01-31T12:00:00Z', '1969-12-31T23:59:59.999+14:00']);
    if (format === 'email') return `person${random.below(1e9)}@example.com`;
    const longest = Math.min(maxLength, 3_000);
    const length = random.pick([minLength, 1, 8, 20, longest, longest + 1, Math.max(0, minLength - 1)]);
    const letters = random.pick(['abc def', 'é€𝒳 ', 'aA0_-.', '<&">', 'שלום ', '\u202e\u200b a']);
    return Array.from({ length }, () => random.pick([...letters])).join('');
  }

  #number({ minimum = -1_000, maximum = 1_000_000 }: Schema, isInteger: boolean): number {
    const random = this.#random;
    const inside = minimum + random.next() * (Math.min(maximum, minimum + 1_000_000) - minimum);
    const value = random.pick([minimum, maximum, minimum - 1, maximum + 1, inside, inside, inside, inside]);
    return isInteger ? Math.round(value) : Math.round(value * 100) / 100;
  }
}

/** JSON in which raw parts stand as they are. */
export function toJson(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, inner]) => `${JSON.stringify(key)}:${toJson(inner)}`)
      .join(',')}}`;
  return JSON.stringify(value) ?? 'null';
}

/** The value as a text of a query, a path or a form. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : toJson(value);
}
