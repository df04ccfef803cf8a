import { linkButton } from '#kit/html/blocks.ts';
import { html } from '#kit/html/html.ts';
import { type Frame, standalone } from '#kit/html/layout.ts';
import type { HttpError } from '#kit/http/options.ts';

export function errorPage(frame: Frame, error: HttpError, requestId: string): string {
  return standalone(frame, {
    title: error.status === 404 ? 'Nothing here' : 'This did not work',
    main: html`<p>${error.message}</p><p class="actions">${linkButton('/', 'See what runs here')}</p>
<p class="small muted">Request <code>${requestId}</code></p>`,
  });
}
