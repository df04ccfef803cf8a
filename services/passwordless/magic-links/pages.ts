import {
  type Content,
  count,
  type FormProblem,
  type Frame,
  formProblem,
  html,
  standalone,
} from '@octavo/web/html';
import type { PageResponder, PageRoutes } from '@octavo/web/pages';
import { visitorOf } from '@octavo/web/server';
import type { RequestLimits } from '../limits.ts';
import { type PageContext, type PageVisit, senderOf } from '../pages/pages.ts';
import {
  codeField,
  emailErrors,
  placeAfterSignIn,
  problems,
  type SignInView,
  signInByCode,
  signInPage,
  signInVisit,
} from '../pages/sign-in.ts';
import { pageRoutes } from '../routes.ts';
import type { Caller, Sessions, TokenPair } from '../sessions/index.ts';
import type { MagicLinks } from './magic-links.ts';

interface MagicLinkPages {
  readonly pages: PageContext;
  readonly magicLinks: MagicLinks;
  readonly sessions: Sessions;
  readonly limits: RequestLimits;
  /** Lifetime of a link. */
  readonly linkSeconds: number;
  /** Hint about the page with unsent mails; undefined if there is none. */
  readonly mailsHint: Content;
}

export function addMagicLinkPages(routes: PageRoutes<TokenPair>, parts: MagicLinkPages): void {
  addRequest(routes, parts);
  addAddressVerification(routes, parts);
  addSignIn(routes, parts);
}

function addRequest(routes: PageRoutes<TokenPair>, parts: MagicLinkPages): void {
  const { pages } = parts;
  routes.get(pageRoutes.signIn, { access: 'public' }, async (visit) => {
    const caller = await pages.callerOf(visit);
    return signInPage(pages.frameOf(visit), { email: caller?.user.email, isAgain: caller !== undefined });
  });
  routes.post(pageRoutes.signIn, { access: 'public' }, async (visit) => {
    const email = visit.field('email');
    const errors = emailErrors(email);
    if (errors.email) {
      visit.reply.code(400);
      return signInPage(pages.frameOf(visit), { email, errors });
    }
    return sendLink(visit, parts, { email, caller: await pages.callerOf(visit) });
  });
}

/** A signed-in user asks for a link to their own address, to show that it is theirs. */
function addAddressVerification(routes: PageRoutes<TokenPair>, parts: MagicLinkPages): void {
  const { pages } = parts;
  routes.get(pageRoutes.verifyEmail, { access: 'public' }, async (visit) => visit.redirect(pageRoutes.home));
  routes.post(pageRoutes.verifyEmail, { access: pages.signedIn }, async ({ visit, caller }) =>
    sendLink(visit, parts, { email: caller.user.email, caller }),
  );
}

/** Says the same for every address, and also when a limit was reached. */
async function sendLink(
  visit: PageVisit,
  parts: MagicLinkPages,
  { email, caller }: { email: string; caller: Caller | undefined },
): Promise<string> {
  const { locale } = senderOf(visit);
  await parts.limits.sendMagic(visit.request, () => parts.magicLinks.request(email, { caller, locale }));
  return checkMailPage(parts.pages.frameOf(visit), parts, { email });
}

function addSignIn(routes: PageRoutes<TokenPair>, parts: MagicLinkPages): void {
  const { pages, magicLinks, sessions, limits } = parts;
  for (const path of [pageRoutes.signInByLink, pageRoutes.signInByCode]) {
    routes.get(path, { access: 'public' }, async (visit) => visit.redirect(pageRoutes.signIn));
  }
  routes.post(pageRoutes.signInByLink, { access: 'public' }, async (visit) => {
    try {
      await limits.verify(visit.request, visit.reply);
      const caller = await pages.callerOf(visit);
      const use = { caller, visitor: visitorOf(visit.request) };
      const pair = await magicLinks.verify(visit.field('token'), use);
      await signInVisit(visit, sessions, pair);
    } catch (error) {
      const { status, problem } = linkProblem(error);
      visit.reply.code(status);
      return signInPage(pages.frameOf(visit), { problem });
    }
    return visit.redirect(placeAfterSignIn(visit));
  });
  routes.post(pageRoutes.signInByCode, { access: 'public' }, (visit) =>
    signInByCode(visit, {
      sessions,
      limit: limits.verify,
      isNumeric: true,
      verify: async (given, visitor) =>
        magicLinks.verifyCode(given, { caller: await pages.callerOf(visit), visitor }),
      show: (view) => checkMailPage(pages.frameOf(visit), parts, view),
    }),
  );
}

function linkProblem(error: unknown): FormProblem {
  const shown = formProblem(error, { INVALID_TOKEN: 'link', TOKEN_EXPIRED: 'link' });
  if (!shown.errors.link) return shown;
  return { ...shown, errors: {}, problem: 'This link was already used or has expired. Ask for a new one.' };
}

/**
 * The page that a magic link leads to in a browser. Nothing happens before the button is pressed, so that mail scanners do not use up the link.
 * The address holds the token, so no other site may learn it.
 */
export function createLanding(respond: PageResponder<TokenPair>, { callerOf, frameOf }: PageContext) {
  return (
    request: PageVisit['request'],
    reply: PageVisit['reply'],
    token: string | undefined,
  ): Promise<PageVisit['reply']> =>
    respond(request, reply, async (visit) => {
      reply.header('referrer-policy', 'no-referrer');
      if (token === undefined) {
        reply.code(400);
        return signInPage(frameOf(visit), { problem: incompleteLink });
      }
      return landingPage(frameOf(visit), { token, caller: await callerOf(visit) });
    });
}

const incompleteLink = 'This link is not complete. Open it from the mail again, or ask for a new one.';

function landingPage(frame: Frame, { token, caller }: { token: string; caller: Caller | undefined }): string {
  const unverified = caller?.user.isVerified === false ? caller.user.email : undefined;
  return standalone(frame, {
    title: 'Sign in',
    lead: 'You followed the link in our mail. It works once.',
    main: html`<form class="stack" method="post" action="${pageRoutes.signInByLink}">${frame.csrfField}<input type="hidden" name="token" value="${token}">
${unverified && html`<p>You are signed in as ${unverified}. If the link was sent there and the address has no owner yet, you keep this account and its sign-in methods. Is the account not yours? Sign out first.</p>`}
<button class="wide" autofocus>Sign in</button></form>
<p class="small muted">If you did not ask for it, close this page. You will not be signed in.</p>`,
  });
}

function checkMailPage(
  frame: Frame,
  { linkSeconds, mailsHint }: Pick<MagicLinkPages, 'linkSeconds' | 'mailsHint'>,
  view: SignInView,
): string {
  const { email = '' } = view;
  const minutes = count(Math.ceil(linkSeconds / 60), 'minute');
  return standalone(frame, {
    title: 'Check your mail',
    lead: html`If <strong>${email}</strong> can receive mail, a sign-in link is on its way. It expires in ${minutes}. <a href="${pageRoutes.signIn}">Wrong address?</a>`,
    main: html`${problems(view)}
<form class="stack" method="post" action="${pageRoutes.signInByCode}" novalidate>${frame.csrfField}<input type="hidden" name="email" value="${email}">
${codeField(view, 'Reading the mail on another device? Type its code here.')}
<button class="wide">Sign in</button></form>
<form class="actions small" method="post" action="${pageRoutes.signIn}">${frame.csrfField}<input type="hidden" name="email" value="${email}">
<span class="muted">No e-mail?</span><button class="quiet">Send another</button></form>${mailsHint}`,
  });
}
