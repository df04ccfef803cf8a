import { createRequire } from 'node:module';
import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyServerOptions } from 'fastify';
import type { Fields } from '../../errors.ts';
import type { TSchema } from '../../schema.ts';
import { FormFields } from '../body.ts';
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

function compileSerializer(schema: TSchema): (value: unknown) => string {
  const build = require('fast-json-stringify') as typeof import('fast-json-stringify');
  return build(schema);
}
