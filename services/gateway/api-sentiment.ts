import { without } from './api-disabled.ts';
import type { ApiParts } from './api-parts.ts';
import { dataOf, operation, PostId } from './api-schemas.ts';
import { callOf } from './call.ts';
import { integrationDisabled } from './integrations.ts';
import { routes } from './routes.ts';
import { PostSentiment, SentimentRequest, SentimentResponse } from './sentiment.ts';

type Parts = Pick<ApiParts, 'app' | 'permits' | 'posts' | 'integrations'>;

const schema = {
  ...operation('classifySentiment', 'Classify a text'),
  body: SentimentRequest,
  response: { 200: dataOf(SentimentResponse) },
};

const postSchema = {
  ...operation('getPostSentiment', 'How a post was classified'),
  params: PostId,
  response: { 200: dataOf(PostSentiment) },
};

export function addSentiment(parts: Parts): void {
  addClassifier(parts);
  addPostSentiment(parts);
}

function addClassifier({ app, permits, posts, integrations }: Parts): void {
  const access = permits('ml', 'write');
  if (!integrations.inferenceServer) {
    const { options, handler } = without('inferenceServer');
    app.post(routes.sentiment, { access, ...options, schema }, handler);
    return;
  }
  app.post(
    routes.sentiment,
    {
      access,
      schema,
      config: { errors: ['timeout', integrationDisabled('inferenceServer')] },
    },
    async (request) => ({ data: await posts.classify(request.body.text, callOf(request)) }),
  );
}

function addPostSentiment({ app, permits, posts, integrations }: Parts): void {
  const access = permits('post', 'read');
  if (!integrations.inferenceServer) {
    const { options, handler } = without('inferenceServer', 'not_found');
    app.get(routes.postSentiment, { access, ...options, schema: postSchema }, handler);
    return;
  }
  const errors = ['not_found' as const, integrationDisabled('inferenceServer')];
  app.get(routes.postSentiment, { access, schema: postSchema, config: { errors } }, async (request) => ({
    data: await posts.sentiment(request.params.id, callOf(request)),
  }));
}
