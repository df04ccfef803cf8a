import type { Problems } from './problems.ts';

/** The keywords of JSON Schema 2020-12 that TypeBox writes and that are checked here. */
export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly default?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  /** What a caller is told where `pattern` is not met. */
  readonly 'x-problem'?: string;
  /** What a larger whole number is read as, where it is a parameter. */
  readonly 'x-clamp'?: number;
}

/** Reads one value: gives it back cleaned, or adds to the problems. */
export type Read = (value: unknown, problems: Problems) => unknown;

export type Compile = (schema: JsonSchema) => Read;

const checked = new Set(
  (
    'type const enum anyOf default minLength maxLength pattern format minimum maximum exclusiveMinimum ' +
    'exclusiveMaximum multipleOf properties required additionalProperties patternProperties maxProperties items ' +
    'minItems maxItems uniqueItems x-problem x-clamp'
  ).split(' '),
);
const annotations = new Set(
  'title description examples example deprecated readOnly writeOnly $comment contentMediaType $id'.split(' '),
);

/** Throws where a schema says something that no reader looks at. */
export function refuseUnknownKeywords(schema: JsonSchema): void {
  for (const keyword of Object.keys(schema)) {
    if (checked.has(keyword) || annotations.has(keyword)) continue;
    throw new Error(`schema keyword ${keyword} is not known here: it would not be checked`);
  }
}
