import type { Log } from '@octavo/core';
import { AppError, type ErrorCode, toAppError } from '@octavo/core';
import { requireToken } from '@octavo/rpc';
import type { Access, HttpApp } from '@octavo/web/server';
import { parseJson } from '@octavo/web/validation';
import type { Classification, Classifier } from './classifier.ts';
import { checkText } from './classifier.ts';
import { labels } from './model/labels.ts';

const bodyBytesMax = 4 * 1024 * 1024;
const textsMax = 256;
const inferLimits = {
  bodyLimit: bodyBytesMax,
  config: { largeBody: { depth: 16, values: 2_048 } },
};
const textTensor = 'text';
const probabilityTensor = 'probabilities';

/**
 * Serves a classifier by the Open Inference protocol (KServe v2) under `/v2`, so that one process can hold the model for
 * many. Errors are `{ "error": "…" }`, as the protocol has them.
 */
export async function serveOpenInference(
  app: HttpApp,
  classifier: Classifier,
  { token, log }: { token: string | undefined; log: Log },
): Promise<void> {
  const { model } = classifier;
  const access: Access = token ? { security: [{ bearer: [] }], onRequest: requireToken(token) } : 'public';
  const hidden = { access, schema: { hide: true } };
  await app.register(
    async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
      scope.setErrorHandler((thrown, _request, reply) => {
        const error = thrown instanceof AppError ? thrown : refusedByServer(thrown);
        if (error.code === 'internal') log.error({ err: error.cause }, 'an inference request failed');
        return reply.code(statuses[error.code] ?? 500).send({ error: error.message });
      });
      scope.get('/', hidden, async () => ({ name: 'octavo', version: '2', extensions: [] }));
      scope.get('/health/live', hidden, async () => ({ live: true }));
      scope.get('/health/ready', hidden, async () => ({ ready: true }));
      scope.get('/models/:model', hidden, async ({ params }) => {
        checkModel(params, model);
        return metadataOf(model);
      });
      scope.get('/models/:model/ready', hidden, async ({ params }) => {
        checkModel(params, model);
        return { name: model, ready: true };
      });
      scope.post('/models/:model/infer', { ...hidden, ...inferLimits }, async ({ params, body }) => {
        checkModel(params, model);
        const { id, texts } = readRequest(parseJson((body as Buffer | undefined) ?? Buffer.alloc(0)));
        return answerOf(await classifier.classify(texts), { id, model });
      });
    },
    { prefix: '/v2' },
  );
}

const statuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  invalid_input: 400,
  validation_failed: 400,
  unauthenticated: 401,
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  unavailable: 503,
  timeout: 504,
};

/** Converts an error of Fastify itself, such as a body that is too large. */
function refusedByServer(thrown: unknown): AppError {
  const isTooLarge = (thrown as { statusCode?: number }).statusCode === 413;
  return isTooLarge
    ? new AppError('too_large', `a body must be at most ${bodyBytesMax} bytes`)
    : toAppError(thrown);
}

function checkModel(params: unknown, model: string): void {
  const asked = (params as { model: string }).model;
  if (asked !== model) throw new AppError('not_found', `there is no model ${asked}, only ${model}`);
}

function metadataOf(model: string) {
  return {
    name: model,
    versions: ['1'],
    platform: 'octavo',
    inputs: [{ name: textTensor, datatype: 'BYTES', shape: [-1] }],
    outputs: [{ name: probabilityTensor, datatype: 'FP64', shape: [-1, labels.length] }],
  };
}

interface InferenceRequest {
  readonly id?: unknown;
  readonly inputs?: readonly { name?: unknown; datatype?: unknown; shape?: unknown; data?: unknown }[];
}

function readRequest(request: unknown): { id: string | undefined; texts: string[] } {
  const { id, inputs } = (request ?? {}) as InferenceRequest;
  const [input, ...others] = Array.isArray(inputs) ? inputs : [];
  if (input?.name !== textTensor || input.datatype !== 'BYTES' || others.length > 0) {
    throw malformed(`inputs must be one tensor of BYTES, ${textTensor}`);
  }
  const texts = Array.isArray(input.data) ? input.data.flat() : [];
  const shape = Array.isArray(input.shape) ? input.shape.join() : '';
  if (texts.length === 0 || texts.length > textsMax) throw malformed(`data must be 1 to ${textsMax} texts`);
  if (shape !== `${texts.length}` && shape !== `${texts.length},1`) {
    throw malformed(`shape must be [${texts.length}]`);
  }
  for (const text of texts) {
    if (typeof text !== 'string') throw malformed('data must be texts');
    checkText(text);
  }
  return { id: typeof id === 'string' ? id : undefined, texts };
}

function malformed(message: string): AppError {
  return new AppError('invalid_input', message);
}

function answerOf(
  classifications: readonly Classification[],
  { id, model }: { id: string | undefined; model: string },
) {
  const data = classifications.flatMap(({ probabilities }) => labels.map((label) => probabilities[label]));
  const shape = [classifications.length, labels.length];
  return {
    model_name: model,
    model_version: '1',
    ...(id === undefined ? {} : { id }),
    outputs: [{ name: probabilityTensor, datatype: 'FP64', shape, data }],
  };
}
