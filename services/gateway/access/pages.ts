import { AppError, type Fields } from '@octavo/core';
import { type OidcSignIn, passwordsOff } from '@octavo/people/sign-in';
import {
  type Content,
  count,
  errorPage,
  errorSummary,
  type Frame,
  field,
  html,
  notice,
  standalone,
} from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import type { HttpError } from '@octavo/web/server';
import { clientAddress } from '@octavo/web/server';
import { pageRoutes } from '../routes.ts';
import { type Access, callOf } from './access.ts';
import { findSignedIn, findVisitor, frameOf, type PageSession, type Visitors } from './visitors.ts';

/** Values of a form that could not be handled, by field. */
type Preserved = Readonly<Record<string, string>>;

/** Shows the form at an address again with the typed values; undefined if the address has no such form. */
type RestoreForm = (
  frame: () => Frame,
  form: { readonly address: string; readonly fields: Preserved; readonly message: Content },
) => string | undefined;

export interface SignInParts {
  readonly access: Access;
  readonly visitors: Visitors;
  readonly restoreForm: RestoreForm;
  readonly oidc: OidcSignIn<PageSession> | undefined;
}

interface SignInView {
  /** Address to open afterwards. */
  readonly next: string;
  readonly username?: string;
  readonly errors?: Fields;
  /** Problem, if it is not about one field. */
  readonly problem?: string | undefined;
  /** The fields of a form that was sent after the session had ended. */
  readonly preserved?: Preserved;
}

export function addSignInPages(routes: PageRoutes<PageSession>, parts: SignInParts): void {
  routes.get(pageRoutes.signIn, { access: 'public' }, async (visit) => {
    const { next = pageRoutes.posts } = visit.request.query as { next?: string };
    return findSignedIn(visit, parts.access)
      ? visit.redirect(String(next))
      : signInPage(visit, { next: String(next) }, parts.oidc);
  });
  routes.post(pageRoutes.signIn, { access: 'public' }, (visit) => signIn(visit, parts));
  routes.post(pageRoutes.signOut, { access: 'public' }, async (visit) => {
    const key = findSignedIn(visit, parts.access)?.sessionKey;
    visit.signOut();
    if (await parts.oidc?.signOut(visit, key)) return visit.reply;
    return visit.redirect(pageRoutes.signIn, { tone: 'good', text: 'You are signed out.' });
  });
}

/** The fields of a form that are worth keeping while its visitor signs in. */
export function preserve(fields: Readonly<Record<string, string | undefined>>): Preserved {
  const names = ['title', 'body', 'userId', 'tag'];
  return Object.fromEntries(names.flatMap((name) => (fields[name] ? [[name, fields[name]]] : [])));
}

/** Returns the fields that the sign-in form carried along. */
export function preservedIn(visit: Visit<PageSession>): Preserved {
  const fields = Object.entries(visit.fields()).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(fields.map(([name, text = '']) => [name.slice(prefix.length), text]));
}

const prefix = 'preserved.';

async function signIn(visit: Visit<PageSession>, parts: SignInParts) {
  const username = visit.field('username').trim();
  const password = visit.field('password');
  const next = visit.field('next');
  const preserved = preservedIn(visit);
  const errors = missing({ username, password });
  const { oidc } = parts;
  if (oidc?.isOnly) throw passwordsOff();
  if (errors) return tryAgain(visit, { status: 422, next, username, preserved, errors }, oidc);
  try {
    const credentials = { username, password, remoteAddress: clientAddress(visit.request) };
    const { token } = await parts.access.signIn(credentials, callOf(visit.request));
    visit.signIn({ token });
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    return tryAgain(visit, { ...refusal, next, username, preserved }, oidc);
  }
  if (Object.keys(preserved).length === 0) return visit.redirect(next);
  return showRestored(visit, { next, preserved }, parts);
}

async function showRestored(
  visit: Visit<PageSession>,
  { next: address, preserved: fields }: { next: string; preserved: Preserved },
  { visitors, restoreForm }: SignInParts,
) {
  const { frame } = await visitors('post', 'write')(visit);
  const message = notice('info', 'You are signed in again and your text is here. It is not saved yet.');
  return restoreForm(frame, { address, fields, message }) ?? visit.redirect(address);
}

function missing(given: Readonly<Record<string, string>>): Fields | undefined {
  const empty = Object.keys(given).filter((name) => given[name] === '');
  return empty.length === 0 ? undefined : Object.fromEntries(empty.map((name) => [name, 'is required']));
}

function tryAgain(
  visit: Visit<PageSession>,
  { status, ...view }: SignInView & { status: number },
  oidc: SignInParts['oidc'],
): Promise<string> {
  visit.reply.code(status);
  return signInPage(visit, view, oidc);
}

function refusalOf(error: unknown): { status: number; problem: string } | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'unauthenticated') {
    return { status: 401, problem: 'The user name or the password is wrong.' };
  }
  if (error.code !== 'rate_limited') return undefined;
  const minutes = Math.max(1, Math.ceil((error.retryAfterSeconds ?? 60) / 60));
  return { status: 429, problem: `Too many failed sign-ins. Try again in ${count(minutes, 'minute')}.` };
}

const labels = { username: 'User name', password: 'Password' };

async function signInPage(
  visit: Visit<PageSession>,
  view: SignInView,
  oidc: SignInParts['oidc'],
): Promise<string> {
  const { next, username, errors = {}, problem, preserved = {} } = view;
  const choice = await oidc?.choice(next);
  const frame = frameOf(visit);
  const hasPreserved = Object.keys(preserved).length > 0;
  return standalone(frame, {
    title: 'Sign in',
    lead: hasPreserved ? undefined : 'Browse, write and analyze posts.',
    main: html`${hasPreserved && preservedNotice()}${problem && notice('bad', problem)}${errorSummary(errors, labels, 'You are not signed in yet')}${choice}${
      !oidc?.isOnly &&
      html`
<form class="stack" method="post" action="${pageRoutes.signIn}">${frame.csrfField}<input type="hidden" name="next" value="${next}">
${Object.entries(preserved).map(
  ([name, value]) => html`<textarea name="${prefix}${name}" hidden>
${value}</textarea>`,
)}
${field({
  name: 'username',
  label: labels.username,
  value: username,
  error: errors.username,
  attributes: {
    autocomplete: 'username',
    autocapitalize: 'none',
    spellcheck: 'false',
    maxlength: 128,
    autofocus: !username,
  },
})}
${field({
  name: 'password',
  label: labels.password,
  type: 'password',
  error: errors.password,
  attributes: { autocomplete: 'current-password', maxlength: 1024, autofocus: Boolean(username) },
})}
<button class="wide">Sign in</button></form>`
    }`,
  });
}

function preservedNotice(): Content {
  return notice('info', 'Your session has ended. Your text is not lost: sign in to continue.');
}

/** Shows what went wrong. Text that was typed is on the page again: behind the sign-in, or in its form after a failure of ours. */
export function createErrorPage({
  access,
  restoreForm,
  oidc,
}: Pick<SignInParts, 'access' | 'restoreForm' | 'oidc'>) {
  return async (visit: Visit<PageSession>, error: HttpError): Promise<string> => {
    if (error.status === 401) return askToSignIn(visit, oidc);
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

function askToSignIn(visit: Visit<PageSession>, oidc: SignInParts['oidc']): Promise<string> {
  const { method, url } = visit.request;
  if (url === pageRoutes.signIn) {
    const problem = 'This page was open for too long. Sign in again.';
    return signInPage(visit, { next: visit.field('next'), preserved: preservedIn(visit), problem }, oidc);
  }
  // A link that leads to the sign-in page has not failed.
  if (method !== 'POST') visit.reply.code(200);
  return signInPage(visit, { next: url, preserved: preserve(visit.fields()) }, oidc);
}
