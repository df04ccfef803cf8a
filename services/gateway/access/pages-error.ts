import { linkButton, notice } from '#kit/html/blocks.ts';
import { html } from '#kit/html/html.ts';
import { type Frame, layout, standalone } from '#kit/html/layout.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpError } from '#kit/http/options.ts';
import { pageRoutes } from '../routes.ts';
import { preserve, preservedIn, type SignInParts, signInPage } from './pages.ts';
import { findSignedIn, frameOf, type PageSession } from './visitors.ts';

/** Shows what went wrong. Text that was typed is on the page again: behind the sign-in, or in its form after a failure of ours. */
export function createErrorPage({ access, restoreForm }: Pick<SignInParts, 'access' | 'restoreForm'>) {
  return (visit: Visit<PageSession>, error: HttpError): string => {
    if (error.status === 401) return askToSignIn(visit);
    const { method, url: address, id } = visit.request;
    const frame = () => frameOf(visit, findSignedIn(visit, access));
    if (error.status < 500 || method !== 'POST') return errorPage(frame(), error, id);
    const message = notice(
      'bad',
      html`${error.message} Your text is below: try again in a moment.<br><small>Request <code>${id}</code></small>`,
      { title: 'Nothing has been saved yet' },
    );
    const form = restoreForm(frame, { address, fields: preserve(visit.fields()), message });
    return form ?? errorPage(frame(), error, id);
  };
}

function askToSignIn(visit: Visit<PageSession>): string {
  const { method, url } = visit.request;
  if (url === pageRoutes.signIn) {
    const problem = 'This page was open for too long. Sign in again.';
    return signInPage(frameOf(visit), { next: visit.field('next'), preserved: preservedIn(visit), problem });
  }
  // A link that leads to the sign-in page has not failed.
  if (method !== 'POST') visit.reply.code(200);
  return signInPage(frameOf(visit), { next: url, preserved: preserve(visit.fields()) });
}

/** What happened, what to do, and the request id to quote. */
function errorPage(frame: Frame, { status, message }: HttpError, requestId: string): string {
  const advice = adviceFor(status);
  const mayRetry = status >= 429;
  const content = {
    title: titleFor(status),
    main: html`<div class="stack"><p>${sentence(message)}${advice && html`<br>${advice}`}</p>
<p class="actions">${mayRetry && linkButton(frame.path, 'Try again')}${linkButton(pageRoutes.posts, 'Go to posts', mayRetry ? 'quiet' : 'secondary')}</p>
<p class="small muted">Request <code>${requestId}</code></p></div>`,
  };
  return frame.account ? layout(frame, content) : standalone(frame, content);
}

function titleFor(status: number): string {
  const titles: Record<number, string> = {
    403: 'You do not have access',
    404: 'Page not found',
    413: 'This is too large',
    429: 'Too many attempts',
    503: 'Not available right now',
    504: 'This took too long',
  };
  return titles[status] ?? (status < 500 ? 'This did not work' : 'Something went wrong');
}

function adviceFor(status: number): string | undefined {
  if (status === 403) return 'If you need access, ask an administrator.';
  if (status === 404) return 'It may have been deleted, or the address may be wrong.';
  if (status >= 500) {
    return 'This is a problem on our side. Try again in a moment. If it happens again, report the request ID below.';
  }
  return undefined;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
