import { AppError } from '@octavo/core';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import {
  badge,
  count,
  empty,
  type Frame,
  type Html,
  html,
  layout,
  notice,
  progress,
  table,
  time,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { PageSession, Visitor, Visitors } from '../access/index.ts';
import { pageRoutes } from '../routes.ts';
import { type Integrations, integrationDisabled } from '../status/index.ts';
import { type ReanalysisJob, toJob } from './reanalysis.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly integrations: Integrations;
}

const shownMax = 20;

export function addReanalysisPages(routes: PageRoutes<PageSession>, parts: Parts): void {
  const { visitors, posts, integrations } = parts;
  const requireBroker = async () => {
    if (!(await integrations.isEnabled('messageBroker'))) throw integrationDisabled('messageBroker');
  };
  routes.get(pageRoutes.reanalyses, { access: visitors('post', 'read') }, async (visitor) => {
    const view = await viewOf(visitor, parts);
    if (view.state !== 'listed') visitor.visit.reply.code(503);
    return reanalysesPage(visitor.frame(), view);
  });
  routes.post(pageRoutes.reanalyses, { access: visitors('post', 'write') }, async ({ visit, call }) => {
    await requireBroker();
    await posts.requestReanalysis({}, call);
    return visit.redirect(pageRoutes.reanalyses, { tone: 'good', text: 'The reanalysis is queued.' });
  });
  routes.post(pageRoutes.cancelReanalysis, { access: visitors('post', 'write') }, async ({ visit, call }) => {
    await requireBroker();
    const { jobId: id = '' } = visit.request.params as { jobId?: string };
    return visit.redirect(pageRoutes.reanalyses, await cancel(() => posts.cancelReanalysis({ id }, call)));
  });
}

async function viewOf(
  { call, may, visit }: Visitor,
  { posts, integrations }: Parts,
): Promise<ReanalysesView> {
  if (!(await integrations.isEnabled('messageBroker'))) return { state: 'off' };
  try {
    const { reanalyses } = await posts.listReanalyses({ limit: shownMax }, call);
    return { state: 'listed', jobs: reanalyses.map(toJob), mayWrite: may.write };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
    return { state: 'down', reason: error.message, requestId: visit.request.id };
  }
}

/** The message for the visitor. A reanalysis that has just finished is not an error. */
async function cancel(work: () => Promise<unknown>) {
  try {
    await work();
    return { tone: 'good' as const, text: 'The reanalysis is canceled.' };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    return { tone: 'info' as const, text: 'The reanalysis had already finished.' };
  }
}

type ReanalysesView =
  | { readonly state: 'off' }
  | { readonly state: 'down'; readonly reason: string; readonly requestId: string }
  /** The latest, newest first. */
  | { readonly state: 'listed'; readonly jobs: readonly ReanalysisJob[]; readonly mayWrite: boolean };

function reanalysesPage(frame: Frame, view: ReanalysesView): string {
  const mayRequest = view.state === 'listed' && view.mayWrite;
  return layout(frame, {
    title: 'Reanalyses',
    parent: { href: pageRoutes.analysis, label: 'Analysis' },
    lead: 'A reanalysis counts and classifies all posts again, and repairs the statistics if they are wrong.',
    actions:
      mayRequest &&
      html`<form method="post" action="${pageRoutes.reanalyses}">${frame.csrfField}<button>Reanalyze now</button></form>`,
    main: mainOf(frame, view),
    modules: ['reanalyses.js'],
  });
}

function mainOf(frame: Frame, view: ReanalysesView): Html {
  if (view.state === 'off') {
    return empty({
      icon: 'chart',
      title: 'Reanalysis is turned off',
      text: 'An operator can turn it on with the setting MESSAGE_BROKER of the posts service. The statistics are up to date anyway: every change of a post updates them.',
    });
  }
  if (view.state === 'down') {
    const content = html`${view.reason}<br><small>Request <code>${view.requestId}</code></small>`;
    return notice('bad', content, { title: 'Reanalyses are not available' });
  }
  const { jobs, mayWrite } = view;
  if (jobs.length === 0) {
    return empty({
      icon: 'chart',
      title: 'No reanalyses yet',
      text: 'Every change of a post updates the statistics. A reanalysis checks that they are right.',
    });
  }
  const hasUnfinished = jobs.some(isUnfinished);
  return html`<div data-reanalyses="${hasUnfinished ? 'open' : 'done'}">${jobTable(frame, jobs, mayWrite)}
${hasUnfinished && html`<p class="small muted"><a href="${pageRoutes.reanalyses}">Refresh</a></p>`}</div>`;
}

function jobTable(frame: Frame, jobs: readonly ReanalysisJob[], mayWrite: boolean): Html {
  return table({
    caption: 'Reanalyses, newest first',
    columns: [
      { header: 'Requested', kind: 'fit', cell: ({ createdAt }: ReanalysisJob) => time(createdAt) },
      { header: 'Status', kind: 'plain', cell: ({ status }) => badge(tones[status], status) },
      { header: 'Result', kind: 'main', cell: resultOf },
      { header: 'Finished', kind: 'fit', cell: ({ finishedAt }) => (finishedAt ? time(finishedAt) : '') },
      ...(mayWrite
        ? [
            {
              header: 'Actions',
              kind: 'row-actions' as const,
              cell: (job: ReanalysisJob) => isUnfinished(job) && cancelForm(frame, job),
            },
          ]
        : []),
    ],
    rows: jobs,
  });
}

function resultOf(job: ReanalysisJob): Html {
  const { status, result, error } = job;
  if (status === 'succeeded' && result) {
    const repaired = result.statisticsRepaired ? 'statistics repaired' : 'statistics correct';
    const classified =
      result.classified > 0
        ? `, ${count(result.classified, 'post')} classified (${result.labelsChanged} changed)`
        : '';
    return html`${count(result.posts, 'post')} counted, ${repaired}${classified}`;
  }
  if (status === 'failed') return html`${error ?? 'The reanalysis failed.'}`;
  if (!isUnfinished(job)) return html``;
  const percent = Math.floor(job.progress * 100);
  const label = status === 'queued' ? 'Waiting for a worker' : 'Counting and classifying';
  return html`<div data-job="${job.jobId}">${progress({ label, value: percent, detail: `${percent}%` })}</div>`;
}

function cancelForm(frame: Frame, { jobId }: ReanalysisJob): Html {
  return html`<form method="post" action="${cancelPath(jobId)}">${frame.csrfField}<button class="quiet">Cancel</button></form>`;
}

function cancelPath(jobId: string): string {
  return pageRoutes.cancelReanalysis.replace(':jobId', encodeURIComponent(jobId));
}

function isUnfinished({ status }: ReanalysisJob): boolean {
  return status === 'queued' || status === 'running';
}

const tones = {
  queued: 'plain',
  running: 'info',
  succeeded: 'good',
  failed: 'bad',
  canceled: 'warn',
} as const;
