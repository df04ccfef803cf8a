import { AppError, type Fields } from '#kit/errors.ts';
import { notice } from '#kit/html/blocks.ts';
import { errorSummary, field } from '#kit/html/form.ts';
import { count } from '#kit/html/format.ts';
import { type Content, html } from '#kit/html/html.ts';
import { type Frame, standalone } from '#kit/html/layout.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import type { Visit } from '#kit/html/visit.ts';
import { clientAddress } from '#kit/http/client-address.ts';
import { pageRoutes } from '../routes.ts';
import { type Access, callOf } from './access.ts';
import { findSignedIn, frameOf, type PageSession, type Visitors } from './visitors.ts';

/** What was typed into a form that could not be handled, by field. */
type Preserved = Readonly<Record<string, string>>;

/** Shows the form at an address again with what was typed into it; nothing if that address has no such form. */
type RestoreForm = (
  frame: () => Frame,
  form: { readonly address: string; readonly fields: Preserved; readonly message: Content },
) => string | undefined;

export interface SignInParts {
  readonly access: Access;
  readonly visitors: Visitors;
  readonly restoreForm: RestoreForm;
}

interface SignInView {
  /** Where to go afterwards. */
  readonly next: string;
  readonly username?: string;
  readonly errors?: Fields;
  /** What went wrong, if it is not about one field. */
  readonly problem?: string | undefined;
  /** The fields of a form that was sent after the session had ended. */
  readonly preserved?: Preserved;
}

export function addSignInPages(routes: PageRoutes<PageSession>, parts: SignInParts): void {
  routes.get(pageRoutes.signIn, { access: 'public' }, async (visit) => {
    const { next = pageRoutes.posts } = visit.request.query as { next?: string };
    return findSignedIn(visit, parts.access)
      ? visit.redirect(String(next))
      : signInPage(frameOf(visit), { next: String(next) });
  });
  routes.post(pageRoutes.signIn, { access: 'public' }, (visit) => signIn(visit, parts));
  routes.post(pageRoutes.signOut, { access: 'public' }, async (visit) => {
    visit.signOut();
    return visit.redirect(pageRoutes.signIn, { tone: 'good', text: 'You are signed out.' });
  });
}

/** The fields of a form that are worth keeping while its visitor signs in. */
export function preserve(fields: Readonly<Record<string, string | undefined>>): Preserved {
  const names = ['title', 'body', 'userId', 'tag'];
  return Object.fromEntries(names.flatMap((name) => (fields[name] ? [[name, fields[name]]] : [])));
}

/** What the sign-in form carried along. */
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
  if (errors) return tryAgain(visit, 422, { next, username, preserved, errors });
  try {
    const credentials = { username, password, remoteAddress: clientAddress(visit.request) };
    const { token } = await parts.access.signIn(credentials, callOf(visit.request));
    visit.signIn({ token });
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    return tryAgain(visit, refusal.status, { next, username, preserved, problem: refusal.problem });
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

function tryAgain(visit: Visit<PageSession>, status: number, view: SignInView): string {
  visit.reply.code(status);
  return signInPage(frameOf(visit), view);
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

export function signInPage(frame: Frame, view: SignInView): string {
  const { next, username, errors = {}, problem, preserved = {} } = view;
  const hasPreserved = Object.keys(preserved).length > 0;
  return standalone(frame, {
    title: 'Sign in',
    lead: hasPreserved ? undefined : 'Browse, write and analyze posts.',
    main: html`${hasPreserved && preservedNotice()}${problem && notice('bad', problem)}${errorSummary(errors, labels, 'You are not signed in yet')}
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
<button class="wide">Sign in</button></form>`,
  });
}

function preservedNotice(): Content {
  return notice('info', 'Your session has ended. Your text is not lost: sign in to continue.');
}
