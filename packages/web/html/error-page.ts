import type { HttpError } from '../http/options.ts';
import { linkButton } from './components/blocks.ts';
import { html } from './html.ts';
import { type Frame, layout, standalone } from './layout.ts';

/**
 * A page for an error: what happened, what to do, and the request id to quote.
 * @param home where to go on, such as `{ href: '/', label: 'Go to posts' }`
 * @param hasNavigation true for signed-in visitors by default
 */
export function errorPage(
  frame: Frame,
  error: HttpError,
  {
    requestId,
    home,
    hasNavigation = frame.account !== undefined,
    styles = [],
  }: {
    requestId: string;
    home: { readonly href: string; readonly label: string };
    hasNavigation?: boolean;
    /** Stylesheets of the service, which its navigation may need. */
    styles?: readonly string[];
  },
): string {
  const { status, message } = error;
  const advice = adviceFor(error);
  const mayRetry = status >= 429;
  const content = {
    title: titleFor(error),
    styles,
    main: html`<div class="stack"><p>${sentence(message)}${advice && html`<br>${advice}`}</p>
<p class="actions">${mayRetry && linkButton(frame.path, 'Try again')}${linkButton(home.href, home.label, mayRetry ? 'quiet' : 'secondary')}</p>
<p class="small muted">Request <code>${requestId}</code></p></div>`,
  };
  return hasNavigation ? layout(frame, content) : standalone(frame, content);
}

function titleFor({ status, code }: HttpError): string {
  if (code === 'CSRF') return 'This form cannot be used';
  const titles: Record<number, string> = {
    403: 'You do not have access',
    404: 'Page not found',
    405: 'This page cannot be opened',
    413: 'This is too large',
    429: 'Too many attempts',
    503: 'Not available right now',
    504: 'This took too long',
  };
  return titles[status] ?? (status < 500 ? 'The request could not be completed' : 'Something went wrong');
}

function adviceFor({ status, code }: HttpError): string | undefined {
  if (code === 'CSRF') return undefined;
  if (status === 403) return 'If you need access, ask an administrator.';
  if (status === 404) return 'It may have been deleted, or the address may be wrong.';
  if (status === 405) return 'Forms are sent to this address. Go back to the page with the form.';
  if (status >= 500) {
    return 'This is a problem on our side. Try again in a moment. If it happens again, report the request ID below.';
  }
  return undefined;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
