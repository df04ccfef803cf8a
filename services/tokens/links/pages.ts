import { type Content, type FormProblem, formProblem, html, notice, standalone } from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import { addMailPages, mailsHint } from '@octavo/web/pages';
import { visitorOf } from '@octavo/web/server';
import type { TokenPair } from '../accounts/tokens.ts';
import { callerOf, emailField, frameOf, type PagesOptions, problems, signedInForm } from '../pages/pages.ts';
import { newPasswordField } from '../pages/sign-in.ts';
import { pageRoutes } from '../routes.ts';

type PageVisit = Visit<TokenPair>;

const open = { access: 'public' } as const;

/** Pages of links in mails. Opening a link changes nothing, because scanners of mails do that too: only its form does. */
export function addLinkPages(routes: PageRoutes<TokenPair>, options: PagesOptions): void {
  addForgotPages(routes, options);
  addResetPages(routes, options);
  addVerificationPages(routes, options);
  const { mailFolder: folder, signIns } = options;
  const hint = {
    text: 'Create an account, and the mail appears here.',
    href: pageRoutes.register,
    label: 'Create account',
  };
  if (folder !== undefined)
    addMailPages(routes, { folder, frameOf: (visit) => frameOf(visit, callerOf(visit, signIns)), hint });
}

function addForgotPages(routes: PageRoutes<TokenPair>, options: PagesOptions): void {
  const { links, limit, mailFolder } = options;
  routes.get(pageRoutes.forgotPassword, open, async (visit) =>
    links.canSend ? forgotPage(visit, {}) : noMailPage(visit),
  );
  routes.post(pageRoutes.forgotPassword, open, async (visit) => {
    const email = visit.field('email');
    if (email === '')
      return failed(visit, { status: 400, errors: { email: 'is required' } }, (view) =>
        forgotPage(visit, view),
      );
    try {
      limit(visit.request, visit.reply);
      links.requestReset(email, visitorOf(visit.request));
    } catch (error) {
      return failed(visit, formProblem(error, {}), (view) => forgotPage(visit, { ...view, email }));
    }
    return standalone(frameOf(visit), {
      title: 'Check your mail',
      main: html`<p>If <b>${email}</b> belongs to an account, a mail with a link to reset the password is on its way. The link works once.</p>
${mailFolder && mailsHint}
<p class="small"><a href="${pageRoutes.home}">Back to sign-in</a></p>`,
    });
  });
}

function addResetPages(routes: PageRoutes<TokenPair>, options: PagesOptions): void {
  const { links, limit, passwordRules } = options;
  const { charactersMin } = passwordRules;
  routes.get(pageRoutes.resetPassword, open, async (visit) => {
    const token = tokenOf(visit);
    try {
      links.check(token, 'password-reset');
    } catch (error) {
      return deadLinkPage(visit, error, 'Reset your password');
    }
    return resetPage(visit, { token, charactersMin });
  });
  routes.post(pageRoutes.resetPassword, open, async (visit) => {
    const [token, newPassword] = [visit.field('token'), visit.field('newPassword')];
    const again = (view: Problem) => resetPage(visit, { ...view, token, charactersMin });
    if (newPassword === '')
      return failed(visit, { status: 400, errors: { newPassword: 'is required' } }, again);
    try {
      limit(visit.request, visit.reply);
      await links.resetPassword({ token, newPassword }, visitorOf(visit.request));
    } catch (error) {
      if (isDeadLink(error)) return deadLinkPage(visit, error, 'Reset your password');
      return failed(visit, formProblem(error, { WEAK_PASSWORD: 'newPassword' }), again);
    }
    visit.signOut();
    const text = 'Your password was changed and all sessions have ended. Sign in with the new password.';
    return visit.redirect(pageRoutes.home, { tone: 'good', text });
  });
}

function addVerificationPages(routes: PageRoutes<TokenPair>, options: PagesOptions): void {
  const { links, limit } = options;
  const title = 'Verify your e-mail address';
  routes.get(pageRoutes.verifyEmail, open, async (visit) => {
    const token = tokenOf(visit);
    try {
      links.check(token, 'email-verification');
    } catch (error) {
      return deadLinkPage(visit, error, title);
    }
    return verifyPage(visit, token);
  });
  routes.post(pageRoutes.verifyEmail, open, async (visit) => {
    try {
      limit(visit.request, visit.reply);
      links.verifyEmail(visit.field('token'));
    } catch (error) {
      if (isDeadLink(error)) return deadLinkPage(visit, error, title);
      return failed(visit, formProblem(error, {}), (view) => verifyPage(visit, visit.field('token'), view));
    }
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'Your e-mail address is verified.' });
  });
  routes.post(
    pageRoutes.sendVerification,
    { access: signedInForm(options) },
    async ({ visit, caller: { user } }) => {
      links.sendVerification(user);
      const text = `A mail with a link is on its way to ${user.email}, unless it got several already.`;
      return visit.redirect(pageRoutes.home, { tone: 'good', text });
    },
  );
  routes.get(pageRoutes.sendVerification, open, async (visit) => visit.redirect(pageRoutes.home));
}

type Problem = Partial<Omit<FormProblem, 'status'>>;

function failed(
  visit: PageVisit,
  { status, ...problem }: FormProblem,
  again: (problem: Problem) => string,
): string {
  visit.reply.code(status);
  return again(problem);
}

/** The token of a link. No other site may learn the address, which holds it. */
function tokenOf({ request, reply }: PageVisit): string {
  reply.header('referrer-policy', 'no-referrer');
  const { token } = request.query as { token?: unknown };
  return typeof token === 'string' ? token : '';
}

function isDeadLink(error: unknown): boolean {
  const { reason = '' } = error as { reason?: string };
  return reason === 'INVALID_TOKEN' || reason === 'TOKEN_EXPIRED';
}

function noMailPage(visit: PageVisit): string {
  return standalone(frameOf(visit), {
    title: 'Forgot your password?',
    main: html`<p>This server sends no e-mail, so a password cannot be reset here.</p>
<p class="small"><a href="${pageRoutes.home}">Back to sign-in</a></p>`,
  });
}

function forgotPage(visit: PageVisit, view: Problem & { email?: string }): string {
  const frame = frameOf(visit);
  return standalone(frame, {
    title: 'Forgot your password?',
    main: html`${problems(view, 'No mail was sent')}
<p>Enter the e-mail address of your account. A link to choose a new password is mailed to it.</p>
<form class="stack" method="post" action="${pageRoutes.forgotPassword}" novalidate>${frame.csrfField}${emailField(view)}
<button class="wide">Send the link</button></form>
<p class="small"><a href="${pageRoutes.home}">Back to sign-in</a></p>`,
  });
}

function resetPage(visit: PageVisit, view: Problem & { token: string; charactersMin: number }): string {
  const { token, charactersMin, errors } = view;
  const frame = frameOf(visit);
  return standalone(frame, {
    title: 'Choose a new password',
    modules: ['strength.js'],
    main: html`${problems(view, 'Your password was not changed')}
<form class="stack" method="post" action="${pageRoutes.resetPassword}" novalidate>${frame.csrfField}<input type="hidden" name="token" value="${token}">
${newPasswordField({ name: 'newPassword', label: 'New password', error: errors?.newPassword, charactersMin })}
<p class="small muted">All sessions end, and a mail tells you about the change.</p>
<button class="wide">Change password</button></form>`,
  });
}

function verifyPage(visit: PageVisit, token: string, view: Problem = {}): string {
  const frame = frameOf(visit);
  return standalone(frame, {
    title: 'Verify your e-mail address',
    main: html`${problems(view, 'The address is not verified yet')}
<form class="stack" method="post" action="${pageRoutes.verifyEmail}">${frame.csrfField}<input type="hidden" name="token" value="${token}">
<p>Confirm that the address this link was mailed to is yours.</p>
<button class="wide">Verify</button></form>`,
  });
}

/** A link that was used, replaced or cut off, or is too old. */
function deadLinkPage(visit: PageVisit, error: unknown, title: string): string {
  if (!isDeadLink(error)) throw error;
  visit.reply.code(400);
  const isOld = (error as { reason?: string }).reason === 'TOKEN_EXPIRED';
  const text = isOld ? 'This link has expired.' : 'This link is not valid or not complete.';
  const isReset = title === 'Reset your password';
  const next: Content = isReset
    ? html`<a href="${pageRoutes.forgotPassword}">Send another link</a>`
    : html`<a href="${pageRoutes.home}">Go to your account</a>, which can send another one.`;
  return standalone(frameOf(visit), { title, main: html`${notice('warn', text)}<p>${next}</p>` });
}
