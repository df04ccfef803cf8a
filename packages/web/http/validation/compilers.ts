import { createRequire } from 'node:module';
import type { Fields, TSchema } from '@octavo/core';
import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyServerOptions } from 'fastify';
import { FormFields } from '../requests/body.ts';
import { formats } from './fields.ts';
import { compileTextValidator } from './text-parameters.ts';
import { compileValidator, type Validation } from './validator.ts';

const require = createRequire(import.meta.url);

/** A part of a request that does not match its schema. Fastify adds which part. */
export class SchemaMismatch extends Error {
  readonly fields: Fields;
  validationContext: string | undefined;

  constructor(fields: Fields) {
    super('the request does not match its schema');
    this.fields = fields;
  }
}

/**
 * Validates the parts of a request: bodies as they are, parameters and form fields after they were parsed by their declared
 * types. Each schema is compiled on first use.
 */
const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validate = httpPart === 'body' ? bodyValidator(schema) : compileTextValidator(schema);
  const isHeaders = httpPart === 'headers';
  return (given: Record<string, unknown>) => {
    const validation = validate(given);
    if (validation.fields) return { error: new SchemaMismatch(validation.fields) };
    return isHeaders ? {} : { value: validation.value };
  };
};

/**
 * Serializes responses by their schemas and leaves out what these do not name. A serializer is compiled at the first response of
 * its route, and the compiler is loaded with the first of them.
 */
const serializerCompiler: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  let serialize: ((value: unknown) => string) | undefined;
  return (value) => {
    serialize ??= compileSerializer(schema);
    return serialize(value);
  };
};

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>;

/**
 * The compilers that Fastify uses. They are passed as an option, because otherwise Fastify loads its own at start: 80 ms and 20
 * MB.
 */
export const schemaController = {
  compilersFactory: {
    buildValidator: () => validatorCompiler,
    buildSerializer: () => serializerCompiler,
  },
} as unknown as SchemaController;

function bodyValidator(schema: TSchema): (body: unknown) => Validation<unknown> {
  const validate = compileValidator(schema);
  const validateTexts = compileTextValidator(schema);
  return (body) => {
    if (Buffer.isBuffer(body)) return { value: body };
    return body instanceof FormFields ? validateTexts(body.values) : validate(body);
  };
}

/** Formats are checked on the way in. A serializer that does not know one would print a warning for each field. */
const knownFormats = Object.fromEntries(Object.keys(formats).map((name) => [name, true as const]));

function compileSerializer(schema: TSchema): (value: unknown) => string {
  const build = require('fast-json-stringify') as typeof import('fast-json-stringify');
  return build(withExactNumbers(schema) as TSchema, { ajv: { formats: knownFormats } });
}

/** A number with `x-exact` may be one that JavaScript cannot hold (packages/core/text/exact-json.ts). Without a type it is written as it is. */
function withExactNumbers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withExactNumbers);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('x-exact' in schema) return {};
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withExactNumbers(value)]));
}
