import { Type } from '#kit/schema.ts';
import { without } from './api-disabled.ts';
import type { ApiParts } from './api-parts.ts';
import { dataOf, operation } from './api-schemas.ts';
import { callOf } from './call.ts';
import { integrationDisabled } from './integrations.ts';
import { ReanalysisJob, ReanalysisTicket } from './reanalysis.ts';
import { routes } from './routes.ts';

type Parts = Pick<ApiParts, 'app' | 'permits' | 'posts' | 'integrations'>;

const params = Type.Object({ jobId: Type.String() });
const requestSchema = {
  ...operation('reanalyzePosts', 'Ask for a new analysis of all posts'),
  response: { 202: dataOf(ReanalysisTicket) },
};
const readSchema = {
  ...operation('getReanalysis', 'How far an analysis is'),
  params,
  response: { 200: dataOf(ReanalysisJob) },
};
const cancelSchema = {
  ...operation('cancelReanalysis', 'Cancel an analysis'),
  params,
  response: { 200: dataOf(ReanalysisJob) },
};

export function addReanalysis({ app, permits, posts, integrations }: Parts): void {
  const [read, write] = [permits('post', 'read'), permits('post', 'write')];
  if (!integrations.messageBroker) {
    const { options, handler } = without('messageBroker', 'not_found');
    const ofRequest = without('messageBroker').options;
    app.post(routes.reanalyze, { access: write, ...ofRequest, schema: requestSchema }, handler);
    app.get(routes.reanalysis, { access: read, ...options, schema: readSchema }, handler);
    app.delete(routes.reanalysis, { access: write, ...options, schema: cancelSchema }, handler);
    return;
  }
  const disabled = integrationDisabled('messageBroker');
  app.post(
    routes.reanalyze,
    { access: write, schema: requestSchema, config: { errors: [disabled] } },
    async (request, reply) => {
      const { jobId, status } = await posts.reanalyze(callOf(request));
      reply.code(202).header('location', routes.reanalysis.replace(':jobId', jobId));
      return { data: { jobId, status } };
    },
  );
  app.get(
    routes.reanalysis,
    { access: read, schema: readSchema, config: { errors: ['not_found', disabled] } },
    async (request) => ({ data: await posts.reanalysis(request.params.jobId, callOf(request)) }),
  );
  app.delete(
    routes.reanalysis,
    { access: write, schema: cancelSchema, config: { errors: ['not_found', 'conflict', disabled] } },
    async (request) => ({ data: await posts.cancelReanalysis(request.params.jobId, callOf(request)) }),
  );
}
