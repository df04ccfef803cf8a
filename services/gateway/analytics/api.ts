import type { Clock } from '@octavo/core';
import { Type } from '@octavo/core';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import type { HttpApp } from '@octavo/web/server';
import { callOf, type Permits } from '../access/index.ts';
import { TimedMeta, timedMetaOf } from '../meta.ts';
import { routes } from '../routes.ts';
import { AnalyticsResult, toAnalytics } from './analytics.ts';
import { DailyCounts, DaysQuery, toDailyCounts } from './days.ts';

interface Parts {
  readonly permits: Permits;
  readonly posts: Client<PostServiceDefinition>;
  readonly clock: Clock;
}

export function addAnalytics(app: HttpApp, { permits, posts, clock }: Parts): void {
  app.get(
    routes.analytics,
    {
      access: permits('post', 'read'),
      schema: {
        operationId: 'analyzePosts',
        tags: ['Analytics'],
        summary: 'Statistics of all posts',
        description:
          'Returns exact numbers of all posts: totals, lengths, authors, sentiments and the most frequent words. They are kept up to date with each write.',
        response: { 200: Type.Object({ data: AnalyticsResult, meta: TimedMeta }) },
      },
    },
    async (request) => {
      const startedMs = performance.now();
      const data = toAnalytics(await posts.getAnalytics({}, callOf(request)));
      return { data, meta: timedMetaOf(request, clock, startedMs) };
    },
  );
  app.get(
    routes.dailyAnalytics,
    {
      access: permits('post', 'read'),
      schema: {
        operationId: 'analyzePostsByDay',
        tags: ['Analytics'],
        summary: 'Posts by day and sentiment',
        description:
          'Returns how many posts of each of the last days there are, today included, and how they were classified. Days are in UTC; days without posts are there, too.',
        querystring: DaysQuery,
        response: { 200: Type.Object({ data: DailyCounts, meta: TimedMeta }) },
      },
    },
    async (request) => {
      const startedMs = performance.now();
      const counted = await posts.countPostsByDay({ days: request.query.days }, callOf(request));
      return { data: toDailyCounts(counted), meta: timedMetaOf(request, clock, startedMs) };
    },
  );
}
