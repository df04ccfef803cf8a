import { linkButton } from '#kit/html/blocks.ts';
import { html } from '#kit/html/html.ts';
import { type Frame, layout, standalone } from '#kit/html/layout.ts';
import type { HttpError } from '#kit/http/options.ts';
import { pageRoutes } from '../page-routes.ts';

/** What happened, what to do, and the number to quote. */
export function errorPage(frame: Frame, error: HttpError, requestId: string): string {
  const advice = adviceFor(error.status);
  const content = {
    title: titleFor(error.status),
    main: html`<div class="stack"><p>${error.message}${advice && html`<br>${advice}`}</p>
<p class="actions">${error.status >= 429 && linkButton(frame.path, 'Try again')}${linkButton(pageRoutes.posts, 'Go to posts', error.status >= 429 ? 'quiet' : 'secondary')}</p>
<p class="small muted">Request <code>${requestId}</code></p></div>`,
  };
  return frame.account ? layout(frame, content) : standalone(frame, content);
}

function titleFor(status: number): string {
  const titles: Record<number, string> = {
    403: 'You may not do this',
    404: 'Nothing here',
    413: 'This is too large',
    429: 'Too many attempts',
    503: 'Not available right now',
    504: 'This took too long',
  };
  return titles[status] ?? (status < 500 ? 'This did not work' : 'Something went wrong');
}

function adviceFor(status: number): string | undefined {
  if (status === 403) return 'Ask an administrator if you need it.';
  if (status === 404) return 'It may have been deleted, or the address is mistyped.';
  if (status >= 500)
    return 'Nothing you did is to blame. Try again in a moment; if it stays, pass on the request number below.';
  return undefined;
}
