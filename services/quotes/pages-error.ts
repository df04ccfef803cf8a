import type { OidcSignIn } from '@octavo/people/sign-in';
import { html, linkButton, site } from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import type { HttpError } from '@octavo/web/server';
import { signInPage } from './accounts/index.ts';
import { pageRoutes } from './routes.ts';
import type { PageSession, Visitors } from './site.ts';

/** Shows an error. If the session has ended, this is the sign-in, which leads back. */
export function createErrorPage(visitors: Visitors, oidc: OidcSignIn<PageSession> | undefined) {
  return async (visit: Visit<PageSession>, error: HttpError): Promise<string> => {
    if (error.status === 401) {
      const errors = { status: 401, errors: {}, problem: 'Your session has ended. Sign in again.' };
      return signInPage(visit, { next: backTo(visit), problem: errors }, oidc);
    }
    const visitor = await visitors(visit);
    const { id } = visit.request;
    const text = textFor(error);
    return site(visitor.frame(), {
      title: titleFor(error.status),
      main: html`<h1 class="title">${titleFor(error.status)}</h1><p class="lead">${text}</p>
<p class="actions">${error.status >= 429 && linkButton(backTo(visit), 'Try again')}${linkButton(pageRoutes.home, 'Quote of the day')}</p>
<p class="small muted">Request <code>${id}</code></p>`,
    });
  };
}

/** The page with the form that was sent. */
function backTo({ request }: Visit<PageSession>): string {
  if (request.method === 'GET') return request.url;
  return /^\/quotes\/\d+\//.exec(request.url)?.[0] ?? pageRoutes.home;
}

function titleFor(status: number): string {
  const titles: Record<number, string> = {
    403: 'You may not do this',
    404: 'Page not found',
    413: 'This is too large',
    429: 'Too many requests',
    503: 'Not available right now',
  };
  return titles[status] ?? (status < 500 ? 'The request could not be completed' : 'Something went wrong');
}

function textFor({ status, message }: HttpError): string {
  if (status === 404)
    return 'There is nothing at this address. It may have been deleted, or the address may be wrong.';
  if (status >= 500) return 'This is a problem on our side. Try again in a moment.';
  return message;
}
