import { notice } from '#kit/html/blocks.ts';
import { html } from '#kit/html/html.ts';
import type { Frame } from '#kit/html/layout.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpError } from '#kit/http/options.ts';
import type { Caller } from '../access.ts';
import { pageRoutes } from '../page-routes.ts';
import { errorPage } from '../views/error.ts';
import { signInPage } from '../views/sign-in.ts';
import { formWithKept, keepable, keptIn } from './kept.ts';
import type { PageParts, Ticket } from './parts.ts';
import { callerOf, frameOf } from './reader.ts';

type DrawError = (visit: Visit<Ticket>, error: HttpError) => string;

/** Draws what went wrong. Whatever was typed is on the page again: behind the sign-in, or in its form where we failed. */
export function errorPageFor({ access }: Pick<PageParts, 'access'>): DrawError {
  return (visit, error) => {
    if (error.status === 401) return askToSignIn(visit);
    const frame = () => frameOf(visit, whoIs(visit, access));
    const form = error.status >= 500 ? formAgain(visit, frame, error) : undefined;
    return form ?? errorPage(frame(), error, visit.request.id);
  };
}

function askToSignIn(visit: Visit<Ticket>): string {
  const { method, url } = visit.request;
  if (url === pageRoutes.signIn) {
    const problem = 'This page was open for too long. Sign in again.';
    return signInPage(frameOf(visit), { next: visit.field('next'), kept: keptIn(visit), problem });
  }
  // Being asked to sign in is no failure of a link.
  if (method !== 'POST') visit.reply.code(200);
  return signInPage(frameOf(visit), { next: url, kept: keepable(visit.fields()) });
}

function formAgain(visit: Visit<Ticket>, frame: () => Frame, error: HttpError): string | undefined {
  const { method, url: address, id } = visit.request;
  if (method !== 'POST') return undefined;
  const message = notice(
    'bad',
    html`${error.message} Your text is below: try again in a moment.<br><small>Request <code>${id}</code></small>`,
    { title: 'Nothing was saved yet' },
  );
  return formWithKept(frame, { address, kept: keepable(visit.fields()), message });
}

function whoIs(visit: Visit<Ticket>, access: PageParts['access']): Caller | undefined {
  try {
    return callerOf(visit, access);
  } catch {
    return undefined;
  }
}
