import { notice } from '#kit/html/blocks.ts';
import { errorPage } from '#kit/html/error-page.ts';
import { html } from '#kit/html/html.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpError } from '#kit/http/options.ts';
import { pageRoutes } from '../routes.ts';
import { preserve, preservedIn, type SignInParts, signInPage } from './pages.ts';
import { findVisitor, frameOf, type PageSession } from './visitors.ts';

/** Shows what went wrong. Text that was typed is on the page again: behind the sign-in, or in its form after a failure of ours. */
export function createErrorPage({ access, restoreForm }: Pick<SignInParts, 'access' | 'restoreForm'>) {
  return async (visit: Visit<PageSession>, error: HttpError): Promise<string> => {
    if (error.status === 401) return askToSignIn(visit);
    const { method, url: address, id } = visit.request;
    const { caller, may } = await findVisitor(visit, access);
    const frame = () => frameOf(visit, caller, may);
    const page = () => errorPage(frame(), error, { requestId: id, home });
    if (error.status < 500 || method !== 'POST') return page();
    const message = notice(
      'bad',
      html`${error.message} Your text is below: try again in a moment.<br><small>Request <code>${id}</code></small>`,
      { title: 'Nothing has been saved yet' },
    );
    return restoreForm(frame, { address, fields: preserve(visit.fields()), message }) ?? page();
  };
}

const home = { href: pageRoutes.posts, label: 'Go to posts' };

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
