import { Type } from '@octavo/core';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import type { HttpApp } from '@octavo/web/server';
import { callOf, type Permits } from '../access/index.ts';
import { PostParams } from '../posts/index.ts';
import { routes } from '../routes.ts';
import { type Integrations, integrationDisabled } from '../status/index.ts';
import {
  classifyTimeoutMs,
  PostSentiment,
  SentimentRequest,
  SentimentResponse,
  toPostSentiment,
  toSentiment,
} from './sentiment.ts';

interface Parts {
  readonly permits: Permits;
  readonly posts: Client<PostServiceDefinition>;
  readonly integrations: Integrations;
}

export function addSentiment(app: HttpApp, { permits, posts, integrations }: Parts): void {
  const preValidation = integrations.require('inferenceServer');
  const disabled = integrationDisabled('inferenceServer');
  app.post(
    routes.sentiment,
    {
      access: permits('ml', 'write'),
      preValidation,
      schema: {
        operationId: 'classifySentiment',
        tags: ['Sentiment'],
        summary: 'Classify a text',
        description:
          'Takes a text of 1 to 10,000 characters and returns its sentiment with the probability of each class. Nothing is saved.',
        body: SentimentRequest,
        response: { 200: Type.Object({ data: SentimentResponse }) },
      },
      config: { errors: ['timeout', disabled] },
    },
    async (request) => {
      const { text } = request.body;
      const call = { ...callOf(request), timeoutMs: classifyTimeoutMs };
      const { classification } = await posts.classifyText({ text }, call);
      return { data: toSentiment(classification) };
    },
  );
  app.get(
    routes.postSentiment,
    {
      access: permits('post', 'read'),
      preValidation,
      schema: {
        operationId: 'getPostSentiment',
        tags: ['Sentiment'],
        summary: 'Sentiment of a post',
        description:
          'Returns the sentiment of a post and the version of the classifier. 404 until the post has been classified.',
        params: PostParams,
        response: { 200: Type.Object({ data: PostSentiment }) },
      },
      config: { errors: ['not_found', disabled] },
    },
    async (request) => {
      const { id } = request.params;
      return { data: toPostSentiment(await posts.getPostSentiment({ id }, callOf(request))) };
    },
  );
}
