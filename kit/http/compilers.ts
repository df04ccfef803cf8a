import { createRequire } from 'node:module';
import type { FastifySerializerCompiler, FastifyServerOptions } from 'fastify';
import type { TSchema } from '../schema.ts';
import { validatorCompiler } from './type-provider.ts';

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>;
type Serialize = (value: unknown) => string;

const require = createRequire(import.meta.url);

/**
 * Answers are written by their schemas, which leaves out what those do not name. Each is compiled when its route first answers, and the
 * compiler is loaded with the first of them: a start that waited for all would take a tenth longer and 12 MB more.
 */
const serializerCompiler: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  let serialize: Serialize | undefined;
  return (value) => {
    serialize ??= compileSerializer(schema);
    return serialize(value);
  };
};

function compileSerializer(schema: TSchema): Serialize {
  const build = require('fast-json-stringify') as typeof import('fast-json-stringify');
  return build(schema) as Serialize;
}

/**
 * What Fastify compiles schemas by. Given with the options, where its types expect functions of AJV, and not set afterwards: else it loads
 * its own.
 */
export const schemaController = {
  compilersFactory: {
    buildValidator: () => validatorCompiler,
    buildSerializer: () => serializerCompiler,
  },
} as unknown as SchemaController;
