import { linkButton } from '#kit/html/blocks.ts';
import { html } from '#kit/html/html.ts';
import { type Frame, standalone } from '#kit/html/layout.ts';
import type { HttpError } from '#kit/http/options.ts';
import { pageRoutes } from '../routes.ts';

/** What happened, what to do, and the number to quote. */
export function errorPage(frame: Frame, error: HttpError, requestId: string): string {
  return standalone(frame, {
    title: error.status === 404 ? 'Nothing here' : 'This did not work',
    main: html`<p>${error.message}</p><p class="actions">${linkButton(pageRoutes.home, 'Go to your account')}</p>
<p class="small muted">Request <code>${requestId}</code></p>`,
  });
}
