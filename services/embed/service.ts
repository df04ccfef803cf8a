import { type Settings, text } from '@octavo/core';
import { ConcurrencyLimiter } from '@octavo/core/concurrency';
import { defineService, type ServiceParts } from '@octavo/data/service';
import { Encoder } from '@octavo/encoder';
import { createHttpServer } from '@octavo/web/server';
import { addApi } from './api.ts';
import { errorBody, errorTable } from './api-errors.ts';

const settings = {
  EMBED_API_KEY: text({
    secret: true,
    minLength: 16,
    help: 'Key that clients of octavo embed send as a bearer token; anybody may ask if unset',
  }),
} satisfies Settings;

/** Requests that wait for the encoder. Further ones are told to come again. */
const waitingMax = 64;

/** Vectors of English texts for programs that know the embeddings API of OpenAI. */
export const embed = defineService({
  name: 'embed',
  summary: 'Vectors of English texts, with the embeddings API of OpenAI',
  settings,
  build,
});

async function build({ config, context, stack }: ServiceParts<typeof settings>) {
  const { log, clock } = context;
  const encoder = stack.use(new Encoder({ log }));
  const server = stack.use(
    await createHttpServer({
      name: 'embed',
      context,
      title: 'Embeddings',
      description: 'Vectors of English texts, with the embeddings API of OpenAI.',
      checks: {},
      errorTable,
      errorBody,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    }),
  );
  const limiter = new ConcurrencyLimiter({ running: 1, waiting: waitingMax });
  const startedAt = Math.floor(clock.now() / 1_000);
  addApi(server.app, { encoder, limiter, key: config.EMBED_API_KEY, startedAt });
  return { url: await server.listen() };
}
