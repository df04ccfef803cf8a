import { AppError, type Fields } from '@octavo/core';
import { setupPath } from '@octavo/people/accounts';
import { passwordsOff } from '@octavo/people/sign-in';
import {
  type Content,
  errorSummary,
  type Frame,
  field,
  formProblem,
  html,
  notice,
  standalone,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { ownPath, type Visit } from '@octavo/web/pages';
import { clientAddress } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import { type AdminVisit, adminPage } from '../context.ts';
import type { Registry } from '../registry.ts';
import type { AdminAccounts } from '../user.ts';

/** Dependencies of the sign-in pages. */
export interface SignInParts<T> {
  readonly registry: Registry;
  readonly accounts: AdminAccounts<T>;
  /** Admits who may open the admin. */
  readonly signedIn: (visit: Visit<T>) => Promise<AdminVisit>;
}

interface SignInView {
  readonly next: string;
  readonly username?: string;
  readonly problem?: string | undefined;
  readonly errors?: Fields;
}

/** Signing in and out, the own password, and the first administrator. */
export function addSignInPages<T>(routes: PageRoutes<T>, parts: SignInParts<T>): void {
  const { accounts } = parts;
  routes.get('/admin/login/', { access: 'public' }, async (visit) => {
    const next = nextOf((visit.request.query as { next?: unknown }).next);
    if (await accounts.userOf(visit)) return visit.redirect(next);
    const stranger = await accounts.strangerOf?.(visit);
    const problem =
      stranger &&
      `You are signed in as ${stranger}, who may not open this page. Sign in with another account.`;
    return signInPage(parts, visit, { next, problem });
  });
  routes.post('/admin/login/', { access: 'public' }, (visit) => signIn(parts, visit));
  routes.post('/admin/logout/', { access: 'public' }, async (visit) => {
    if (await accounts.signOut(visit)) return visit.reply;
    return visit.redirect('/admin/login/', { tone: 'good', text: 'You are signed out.' });
  });
  accounts.oidc?.addRoutes(routes);
  if (accounts.changePassword) addPasswordPages(routes, parts);
  if (accounts.setup) addSetupPages(routes, parts);
}

/** Returns the page to open after signing in: a page of this site, by default the overview. */
function nextOf(given: unknown): string {
  return typeof given === 'string' && given !== '' && ownPath(given) === given ? given : '/admin/';
}

async function signIn<T>(parts: SignInParts<T>, visit: Visit<T>): Promise<string | FastifyReply> {
  const { next: inQuery } = visit.request.query as { next?: unknown };
  const next = nextOf(visit.field('next') || inQuery);
  const username = visit.field('username').trim();
  const password = visit.field('password');
  if (parts.accounts.oidc?.isOnly) throw passwordsOff();
  const missing = {
    ...(!username && { username: 'is required' }),
    ...(!password && { password: 'is required' }),
  };
  if (Object.keys(missing).length > 0) {
    visit.reply.code(422);
    return signInPage(parts, visit, { next, username, errors: missing });
  }
  try {
    await parts.accounts.signIn(visit, { username, password }, clientAddress(visit.request));
    return visit.redirect(next);
  } catch (error) {
    const { status, problem } = formProblem(error, {});
    visit.reply.code(status);
    setRetryAfter(visit, error);
    return signInPage(parts, visit, { next, username, problem });
  }
}

function setRetryAfter<T>(visit: Visit<T>, error: unknown): void {
  if (error instanceof AppError && error.retryAfterSeconds !== undefined)
    visit.reply.header('retry-after', String(Math.ceil(error.retryAfterSeconds)));
}

function frameFor<T>(registry: Registry, visit: Visit<T>): Frame {
  return {
    ...visit.frame(),
    service: registry.title,
    home: '/admin/',
    navigation: [],
    flash: visit.takeFlash(),
  };
}

/** The frame for people on their way to a page outside the admin. */
function siteFrameFor<T>(registry: Registry, visit: Visit<T>): Frame {
  return { ...frameFor(registry, visit), service: registry.title.replace(/ admin$/, ''), home: '/' };
}

async function signInPage<T>(
  { registry, accounts }: SignInParts<T>,
  visit: Visit<T>,
  view: SignInView,
): Promise<string> {
  const { next, username = '', problem, errors = {} } = view;
  const choice = (await accounts.oidc?.choice(next)) ?? accounts.otherSignIn;
  const frame = next.startsWith('/admin/') ? frameFor(registry, visit) : siteFrameFor(registry, visit);
  if (accounts.oidc?.isOnly)
    return standalone(frame, { title: 'Sign in', main: html`${problem && notice('bad', problem)}${choice}` });
  return standalone(frame, {
    title: 'Sign in',
    main: html`${problem && notice('bad', problem)}${errorSummary(errors, { username: 'User name', password: 'Password' }, 'You are not signed in yet')}${choice}
<form class="stack" method="post" action="/admin/login/" novalidate>${frame.csrfField}<input type="hidden" name="next" value="${next}">
${field({ name: 'username', label: 'User name', value: username, error: errors.username, attributes: { autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false', required: true, autofocus: true } })}
${field({ name: 'password', label: 'Password', type: 'password', error: errors.password, attributes: { autocomplete: 'current-password', required: true } })}
<button class="wide">Sign in</button></form>`,
  });
}

function addPasswordPages<T>(routes: PageRoutes<T>, { accounts, signedIn }: SignInParts<T>): void {
  const path = '/admin/password_change/';
  const connection = async (visit: Visit<T>) => {
    const user = await accounts.userOf(visit);
    return user && accounts.oidc?.connection(visit, user.id);
  };
  routes.get(path, { access: 'public' }, async (visit) =>
    passwordPage(await signedIn(visit), {}, await connection(visit)),
  );
  routes.post(path, { access: 'public' }, async (visit) => {
    const context = await signedIn(visit);
    const given = { currentPassword: visit.field('old_password'), newPassword: visit.field('new_password1') };
    const errors = {
      ...(!given.currentPassword && { old_password: 'is required' }),
      ...(!given.newPassword && { new_password1: 'is required' }),
      ...(given.newPassword !== visit.field('new_password2') && {
        new_password2: 'must be the same as above',
      }),
    };
    try {
      if (Object.keys(errors).length > 0)
        throw new AppError('validation_failed', 'The password was not changed.', { fields: errors });
      await accounts.changePassword?.(visit, context.user, given);
      return visit.redirect('/admin/', {
        tone: 'good',
        text: 'Your password was changed. Other browsers are signed out.',
      });
    } catch (error) {
      const shown = formProblem(error, { WRONG_PASSWORD: 'old_password', WEAK_PASSWORD: 'new_password1' });
      visit.reply.code(shown.status);
      setRetryAfter(visit, error);
      return passwordPage(context, shown, await connection(visit));
    }
  });
}

function passwordPage(
  context: AdminVisit,
  { errors = {}, problem }: { errors?: Fields; problem?: string },
  connection: Content,
): string {
  const frame = context.frame();
  const labels = {
    old_password: 'Current password',
    new_password1: 'New password',
    new_password2: 'New password again',
  };
  const one = (name: keyof typeof labels, autocomplete: string) =>
    field({
      name,
      label: labels[name],
      type: 'password',
      error: errors[name],
      attributes: { autocomplete, required: true, class: 'medium' },
    });
  return adminPage(frame, {
    title: 'Change your password',
    main: html`${problem && notice('bad', problem)}${errorSummary(errors, labels, 'Your password was not changed')}
<div class="card"><form class="form" method="post" action="/admin/password_change/" novalidate>${frame.csrfField}
${one('old_password', 'current-password')}${one('new_password1', 'new-password')}${one('new_password2', 'new-password')}
<div class="actions"><button>Change password</button></div></form></div>${connection}`,
  });
}

function addSetupPages<T>(routes: PageRoutes<T>, { registry, accounts }: SignInParts<T>): void {
  const { setup } = accounts;
  const demandOpen = async (token: string) => {
    if (!(await setup?.isOpen(token)))
      throw new AppError(
        'not_found',
        'This link was used, has expired, or there is an administrator already.',
      );
  };
  routes.get(setupPath, { access: 'public' }, async (visit) => {
    const token = String((visit.request.query as { token?: unknown }).token ?? '');
    await demandOpen(token);
    return setupPage(registry, visit, { token, username: '' });
  });
  routes.post(setupPath, { access: 'public' }, async (visit) => {
    const [token, username] = [visit.field('token'), visit.field('username').trim()];
    await demandOpen(token);
    try {
      await setup?.create(visit, token, { username, password: visit.field('password') });
      return visit.redirect('/admin/', {
        tone: 'good',
        text: `Welcome, ${username}. You are the administrator now.`,
      });
    } catch (error) {
      const shown = formProblem(error, { WEAK_PASSWORD: 'password' });
      visit.reply.code(shown.status);
      return setupPage(registry, visit, { token, username, ...shown });
    }
  });
}

function setupPage<T>(
  registry: Registry,
  visit: Visit<T>,
  {
    token,
    username,
    errors = {},
    problem,
  }: { token: string; username: string; errors?: Fields; problem?: string },
): string {
  const frame = frameFor(registry, visit);
  return standalone(frame, {
    title: 'Create the administrator',
    lead: 'This link works once.',
    main: html`${problem && notice('bad', problem)}${errorSummary(errors, { username: 'User name', password: 'Password' })}
<form class="stack" method="post" action="${setupPath}" novalidate>${frame.csrfField}<input type="hidden" name="token" value="${token}">
${field({ name: 'username', label: 'User name', value: username, error: errors.username, attributes: { autocomplete: 'username', required: true } })}
${field({ name: 'password', label: 'Password', type: 'password', error: errors.password, attributes: { autocomplete: 'new-password', required: true } })}
<button class="wide">Create administrator</button></form>`,
  });
}
