import { type Content, card, html, table, time } from '@octavo/web/html';
import type { LoggedError } from './recent-errors.ts';

/** The last errors in the log of this process, for administrators. */
export function errorsCard(errors: readonly LoggedError[], titleOf: (service: string) => string): Content {
  if (errors.length === 0) return card('Last errors', html`<p class="muted">No errors since the start.</p>`);
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
