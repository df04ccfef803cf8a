import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError, type Static, Type } from '@octavo/core';
import { bearerToken } from '@octavo/core/auth';
import type { ConcurrencyLimiter } from '@octavo/core/concurrency';
import { type Encoder, EncoderError, encoderDimensions, encoderModel, textMax } from '@octavo/encoder';
import { type AccessRule, goneSignal, type HttpApp } from '@octavo/web/server';
import { ErrorBody } from './api-errors.ts';

export interface ApiParts {
  readonly encoder: Encoder;
  /** One request at a time, first come, first served. */
  readonly limiter: ConcurrencyLimiter;
  readonly key: string | undefined;
  /** In Unix seconds. */
  readonly startedAt: number;
}

const textsMax = 2_048;
const tags = ['Embeddings'];
const formats = ['float', 'base64'] as const;

const EmbeddingRequest = Type.Object(
  {
    input: Type.Unknown({
      description: `A text, or a list of at most ${textsMax} texts of at most ${textMax} characters.`,
    }),
    model: Type.String({ description: `The model: ${encoderModel}.` }),
    encoding_format: Type.Optional(
      Type.Enum(formats, {
        description: 'Form of vectors: numbers, or 32-bit floats, little-endian, in Base64.',
      }),
    ),
    dimensions: Type.Optional(Type.Integer({ description: `Size of the vectors: ${encoderDimensions}.` })),
    user: Type.Optional(Type.String({ description: 'Accepted, and not used.' })),
  },
  { title: 'EmbeddingRequest' },
);

const Embedding = Type.Object(
  {
    object: Type.Literal('embedding'),
    index: Type.Integer(),
    embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
  },
  { title: 'Embedding' },
);

const Embeddings = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(Embedding),
    model: Type.String(),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  },
  { title: 'Embeddings' },
);

const Model = Type.Object(
  { id: Type.String(), object: Type.Literal('model'), created: Type.Integer(), owned_by: Type.String() },
  { title: 'Model' },
);

const errors = Object.fromEntries(
  [400, 401, 404, 413, 415, 429, 500, 503].map((status) => [status, ErrorBody]),
);

/** Adds the endpoints that clients of OpenAI's embeddings know. */
export function addApi(app: HttpApp, parts: ApiParts): void {
  const access = accessBy(parts.key);
  app.post(
    '/v1/embeddings',
    {
      access,
      config: { errors: ['not_found', 'validation_failed', 'unavailable'] },
      schema: {
        tags,
        summary: 'Create embeddings (OpenAI API)',
        description:
          'Returns a vector of length 1 for each text. Texts that mean the same have vectors that are near.',
        body: EmbeddingRequest,
        response: { ...errors, 200: Embeddings },
      },
    },
    async ({ body }, reply) => createEmbeddings(body, goneSignal(reply), parts),
  );
  addModels(app, parts, access);
}

function addModels(app: HttpApp, { startedAt }: ApiParts, access: AccessRule): void {
  const model = { id: encoderModel, object: 'model' as const, created: startedAt, owned_by: 'octavo' };
  const Models = Type.Object({ object: Type.Literal('list'), data: Type.Array(Model) });
  const summary = 'List the available models';
  app.get(
    '/v1/models',
    {
      access,
      schema: { tags, summary, description: 'Returns the only model.', response: { ...errors, 200: Models } },
    },
    async () => ({ object: 'list' as const, data: [model] }),
  );
  app.get(
    '/v1/models/:id',
    {
      access,
      config: { errors: ['not_found'] },
      schema: {
        tags,
        summary: 'Get a model',
        description: 'Returns the model of that name.',
        params: Type.Object({ id: Type.String({ maxLength: 600, format: 'text' }) }),
        response: { ...errors, 200: Model },
      },
    },
    async ({ params: { id } }) => {
      checkModel(id);
      return model;
    },
  );
}

async function createEmbeddings(
  { input, model, dimensions, encoding_format: format = 'float' }: Static<typeof EmbeddingRequest>,
  signal: AbortSignal,
  { encoder, limiter }: ApiParts,
): Promise<Static<typeof Embeddings>> {
  checkModel(model);
  if (dimensions !== undefined && dimensions !== encoderDimensions)
    throw invalid('dimensions', `must be ${encoderDimensions}, the only size of this model`);
  const texts = textsOf(input);
  const encoded = await limiter
    .run(() => encoder.encode(texts, { isUrgent: false, signal }), signal)
    .catch((error) => {
      if (!(error instanceof EncoderError)) throw error;
      throw new AppError('unavailable', `The encoder ${error.message}.`, { retryAfterSeconds: 5 });
    });
  const tokens = encoded.reduce((sum, each) => sum + each.tokens, 0);
  return {
    object: 'list',
    data: encoded.map(({ vector }, index) => ({
      object: 'embedding',
      index,
      embedding: format === 'base64' ? base64Of(vector) : [...vector],
    })),
    model: encoderModel,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

function textsOf(input: unknown): string[] {
  const texts = typeof input === 'string' ? [input] : input;
  if (!Array.isArray(texts) || texts.length === 0)
    throw invalid('input', 'must be a text or a list of texts');
  if (texts.length > textsMax) throw invalid('input', `must have at most ${textsMax} texts`);
  for (const [index, text] of texts.entries()) {
    const name = typeof input === 'string' ? 'input' : `input[${index}]`;
    if (typeof text !== 'string')
      throw invalid(name, 'must be a text; tokens of other models mean nothing here');
    if (text.trim() === '') throw invalid(name, 'must not be empty');
    if (text.length > textMax)
      throw invalid(name, `has ${text.length} characters; at most ${textMax} are read`);
  }
  return texts;
}

function checkModel(name: string): void {
  if (name !== encoderModel)
    throw new AppError('not_found', `The model ${name.slice(0, 100)} does not exist; ${encoderModel} does.`, {
      reason: 'model_not_found',
    });
}

function invalid(field: string, problem: string): AppError {
  return new AppError('validation_failed', `${field} ${problem}`, { fields: { [field]: problem } });
}

function base64Of(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

/** Everybody, or those with the key. */
function accessBy(key: string | undefined): AccessRule {
  if (key === undefined) return { security: [{}] };
  const expected = hashOf(key);
  return {
    security: [{ bearer: [] }],
    onRequest: async ({ headers }) => {
      const token = bearerToken(headers.authorization);
      if (token === undefined || !timingSafeEqual(hashOf(token), expected))
        throw new AppError('unauthenticated', 'Send the key of this server as a bearer token.');
    },
  };
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
