import { Type } from '@octavo/core';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import type { HttpApp } from '@octavo/web/server';
import { callOf, type Permits } from '../access/index.ts';
import { routes } from '../routes.ts';
import { type Integrations, integrationDisabled } from '../status/index.ts';
import { ReanalysisJob, ReanalysisTicket, toJob } from './reanalysis.ts';

interface Parts {
  readonly permits: Permits;
  readonly posts: Client<PostServiceDefinition>;
  readonly integrations: Integrations;
}

const params = Type.Object({ jobId: Type.String() });

export function addReanalysis(app: HttpApp, { permits, posts, integrations }: Parts): void {
  const preValidation = integrations.require('messageBroker');
  const disabled = integrationDisabled('messageBroker');
  app.post(
    routes.reanalyze,
    {
      access: permits('post', 'write'),
      preValidation,
      schema: {
        operationId: 'reanalyzePosts',
        tags: ['Reanalysis'],
        summary: 'Request a reanalysis of all posts',
        description:
          'Queues the work and returns its `jobId`. A worker then counts and classifies all posts again, while the statistics stay as they are.',
        response: { 202: Type.Object({ data: ReanalysisTicket }) },
      },
      config: { errors: [disabled] },
    },
    async (request, reply) => {
      const { jobId, status } = toJob((await posts.requestReanalysis({}, callOf(request))).reanalysis);
      reply.code(202).header('location', routes.reanalysis.replace(':jobId', jobId));
      return { data: { jobId, status } };
    },
  );
  app.get(
    routes.reanalysis,
    {
      access: permits('post', 'read'),
      preValidation,
      schema: {
        operationId: 'getReanalysis',
        tags: ['Reanalysis'],
        summary: 'The progress of a reanalysis',
        description:
          'Returns the state of the job (`queued`, `running`, `succeeded`, `failed` or `canceled`) and how many posts are done.',
        params,
        response: { 200: Type.Object({ data: ReanalysisJob }) },
      },
      config: { errors: ['not_found', disabled] },
    },
    async (request) => {
      const { reanalysis } = await posts.getReanalysis({ id: request.params.jobId }, callOf(request));
      return { data: toJob(reanalysis) };
    },
  );
  app.delete(
    routes.reanalysis,
    {
      access: permits('post', 'write'),
      preValidation,
      schema: {
        operationId: 'cancelReanalysis',
        tags: ['Reanalysis'],
        summary: 'Cancel a reanalysis',
        description:
          'Stops the job with this `jobId`. Statistics stay as they were before it. 409 if it has ended.',
        params,
        response: { 200: Type.Object({ data: ReanalysisJob }) },
      },
      config: { errors: ['not_found', 'conflict', disabled] },
    },
    async (request) => {
      const { reanalysis } = await posts.cancelReanalysis({ id: request.params.jobId }, callOf(request));
      return { data: toJob(reanalysis) };
    },
  );
}
