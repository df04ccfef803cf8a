import { badge, empty, notice, progress } from '#kit/html/blocks.ts';
import { count, time } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { table } from '#kit/html/table.ts';
import { cancelReanalysisPath, pageRoutes } from '../page-routes.ts';
import type { ReanalysisJob } from '../reanalysis.ts';

export type ReanalysesView =
  | { readonly state: 'off' }
  | { readonly state: 'down'; readonly reason: string; readonly requestId: string }
  /** The latest, newest first. */
  | { readonly state: 'listed'; readonly jobs: readonly ReanalysisJob[]; readonly mayWrite: boolean };

export function reanalysesPage(frame: Frame, view: ReanalysesView): string {
  const mayAsk = view.state === 'listed' && view.mayWrite;
  return layout(frame, {
    title: 'Reanalyses',
    parent: { href: pageRoutes.analysis, label: 'Analysis' },
    lead: 'A reanalysis counts every post anew, repairs the statistics where they differ, and classifies the posts.',
    actions:
      mayAsk &&
      html`<form method="post" action="${pageRoutes.reanalyses}">${frame.csrfField}<button>Reanalyse now</button></form>`,
    main: mainOf(frame, view),
    modules: ['reanalyses.js'],
  });
}

function mainOf(frame: Frame, view: ReanalysesView): Html {
  if (view.state === 'off') {
    return empty({
      icon: 'chart',
      title: 'Posts are not reanalysed here',
      text: 'The message broker is switched off (MESSAGE_BROKER). The figures are kept with each change all the same.',
    });
  }
  if (view.state === 'down') {
    const content = html`${view.reason}<br><small>Request <code>${view.requestId}</code></small>`;
    return notice('bad', content, { title: 'The reanalyses cannot be shown' });
  }
  const { jobs, mayWrite } = view;
  if (jobs.length === 0) {
    return empty({
      icon: 'chart',
      title: 'No reanalysis yet',
      text: 'The statistics are kept with each change of a post; a reanalysis proves them.',
    });
  }
  const isOpen = jobs.some(isUnderWay);
  return html`<div data-reanalyses="${isOpen ? 'open' : 'done'}">${jobTable(frame, jobs, mayWrite)}
${isOpen && html`<p class="small muted"><a href="${pageRoutes.reanalyses}">Look again</a></p>`}</div>`;
}

function jobTable(frame: Frame, jobs: readonly ReanalysisJob[], mayWrite: boolean): Html {
  return table({
    caption: 'Reanalyses, newest first',
    columns: [
      { header: 'Asked for', kind: 'fit', cell: ({ createdAt }: ReanalysisJob) => time(createdAt) },
      { header: 'Status', kind: 'fit', cell: ({ status }) => badge(tones[status], status) },
      { header: 'Result', kind: 'main', cell: resultOf },
      { header: 'Ended', kind: 'fit', cell: ({ finishedAt }) => (finishedAt ? time(finishedAt) : '') },
      ...(mayWrite
        ? [
            {
              header: 'Actions',
              kind: 'row-actions' as const,
              cell: (job: ReanalysisJob) => isUnderWay(job) && cancelForm(frame, job),
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
    const repaired = result.statisticsRepaired ? 'statistics repaired' : 'statistics right';
    const classified =
      result.classified > 0
        ? `, ${count(result.classified, 'post')} classified (${result.labelsChanged} changed)`
        : '';
    return html`${count(result.posts, 'post')} counted, ${repaired}${classified}`;
  }
  if (status === 'failed') return html`${error ?? 'It failed.'}`;
  if (!isUnderWay(job)) return html``;
  const percent = Math.floor(job.progress * 100);
  const label = status === 'queued' ? 'Waiting for a worker' : 'Counting and classifying';
  return html`<div data-job="${job.jobId}">${progress({ label, value: percent, detail: `${percent} %` })}</div>`;
}

function cancelForm(frame: Frame, { jobId }: ReanalysisJob): Html {
  return html`<form method="post" action="${cancelReanalysisPath(jobId)}">${frame.csrfField}<button class="quiet">Cancel</button></form>`;
}

function isUnderWay({ status }: ReanalysisJob): boolean {
  return status === 'queued' || status === 'running';
}

const tones = {
  queued: 'plain',
  running: 'info',
  succeeded: 'good',
  failed: 'bad',
  canceled: 'warn',
} as const;
