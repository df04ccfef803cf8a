import type { FastifySchemaCompiler, FastifyTypeProvider } from 'fastify';
import type { Fields } from '../errors.ts';
import type { Static, TSchema } from '../schema.ts';
import { FormFields } from './body.ts';
import { compileTextReader } from './validation/query.ts';
import { compileReader, type Reading } from './validation/reader.ts';

/** Types of request parts and answers from their TypeBox schemas. */
export interface TypeBoxTypeProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  readonly serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

/** A part of a request that does not fit its schema; Fastify adds which part. */
export class BadShape extends Error {
  readonly fields: Fields;
  validationContext: string | undefined;

  constructor(fields: Fields) {
    super('the request does not fit its schema');
    this.fields = fields;
  }
}

/**
 * Compiles the schemas of a route: bodies are not coerced, parameters and form fields are parsed by their declared
 * types.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const reader = httpPart === 'body' ? bodyReader(schema) : compileTextReader(schema);
  const isHeaders = httpPart === 'headers';
  return (given: Record<string, unknown>) => {
    const reading = reader(given);
    if (reading.fields) return { error: new BadShape(reading.fields) };
    return isHeaders ? {} : { value: reading.value };
  };
};

function bodyReader(schema: TSchema): (body: unknown) => Reading<unknown> {
  const read = compileReader(schema);
  let readForm: ((fields: Record<string, unknown>) => Reading<unknown>) | undefined;
  return (body) => {
    if (Buffer.isBuffer(body)) return { value: body };
    if (!(body instanceof FormFields)) return read(body);
    readForm ??= compileTextReader(schema);
    return readForm(body.values);
  };
}
