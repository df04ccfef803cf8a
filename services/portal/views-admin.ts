import { type Content, card, formatNumber, html, table, time } from '@octavo/web/html';
import type { Activity } from './activity.ts';
import type { LoggedError } from './recent-errors.ts';
import type { SiteReport } from './sites.ts';

interface RecordLine {
  readonly title: string;
  readonly url: string;
  readonly label: string;
  readonly amount: number;
}

/** Numbers of records that the services hold, for administrators. */
export function recordsCard(
  reports: readonly SiteReport[],
  activityOf: (name: string) => Activity | undefined,
): Content {
  const rows = reports.flatMap(({ name, title, url }): RecordLine[] =>
    (activityOf(name)?.records ?? []).map(({ label, amount }) => ({ title, url, label, amount })),
  );
  if (rows.length === 0) return undefined;
  const columns = [
    {
      header: 'Service',
      kind: 'main' as const,
      cell: ({ title, url }: RecordLine) => html`<a href="${url}">${title}</a>`,
    },
    { header: 'Kind', kind: 'fit' as const, cell: ({ label }: RecordLine) => label },
    { header: 'Number', kind: 'number' as const, cell: ({ amount }: RecordLine) => formatNumber(amount) },
  ];
  return card('Records', table<RecordLine>({ caption: 'Records', columns, rows, isSmall: true }));
}

/** The last errors in the log of this process, for administrators. */
export function errorsCard(errors: readonly LoggedError[], titleOf: (service: string) => string): Content {
  if (errors.length === 0) return card('Last errors', html`<p class="muted">None since the start.</p>`);
  const columns = [
    { header: 'When', kind: 'fit' as const, cell: (error: LoggedError) => time(error.time) },
    { header: 'Service', kind: 'fit' as const, cell: ({ service }: LoggedError) => titleOf(service) },
    { header: 'Error', kind: 'main' as const, cell: errorOf },
  ];
  return card(
    'Last errors',
    table<LoggedError>({ caption: 'Last errors, newest first', columns, rows: errors }),
  );
}

function errorOf({ message, cause, requestId }: LoggedError): Content {
  return html`${message}${cause && html`<br><span class="small muted">${cause}</span>`}${requestId && html`<br><span class="small muted">Request <code>${requestId}</code></span>`}`;
}
