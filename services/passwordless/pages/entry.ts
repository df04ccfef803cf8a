import { normalizeEmail } from '#kit/auth/email.ts';
import type { Visitor } from '#kit/auth/visitor.ts';
import { type FormProblem, formProblem } from '#kit/html/form-problem.ts';
import type { Frame } from '#kit/html/layout.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { assertionOf } from '../passkeys/index.ts';
import { pageRoutes } from '../routes.ts';
import type { TokenPair } from '../session.ts';
import { appPage, checkMailPage, type EntryView, recoveryPage, signInPage } from '../views/entry.ts';
import { mailsHint } from '../views/mails.ts';
import { json, readAsserted, sendJson } from './answers.ts';
import type { PageParts } from './parts.ts';
import { frameOf, type Reading, readerOf } from './reader.ts';

/** Signing in, in each way, and out. */
export function addEntryPages(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  addLinkForms(routes, parts);
  addCodeForms(routes, parts);
  addPasskeySignIn(routes, parts);
  routes.post(pageRoutes.signOut, async (visit) => {
    if (visit.who) await parts.sessions.revoke(visit.who.refresh_token);
    visit.signOut();
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'You are signed out.' });
  });
}

function addLinkForms(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { limits, magicLinks, linkSeconds, visitorOf } = parts;
  routes.get(pageRoutes.signIn, async (visit) => {
    const reader = await readerOf(visit, parts);
    return signInPage(frameOf(visit, parts), { email: reader?.user.email, isAgain: reader !== undefined });
  });
  routes.post(pageRoutes.signIn, async (visit) => {
    const email = visit.field('email');
    if (normalizeEmail(email) === undefined) {
      visit.reply.code(400);
      const problem = email.trim() === '' ? 'is required' : 'must be an address, such as alice@example.com';
      return signInPage(frameOf(visit, parts), { email, errors: { email: problem } });
    }
    await limits.sendMagic(visit.request, async () => {
      const caller = await readerOf(visit, parts);
      return magicLinks.request(email, { caller, locale: visit.request.headers['accept-language'] });
    });
    return checkMailPage(frameOf(visit, parts), {
      email,
      minutes: Math.ceil(linkSeconds / 60),
      mails: mailsHint(parts),
    });
  });
  routes.get(pageRoutes.signInByLink, async (visit) => visit.redirect(pageRoutes.signIn));
  routes.post(pageRoutes.signInByLink, async (visit) => {
    try {
      await limits.verify(visit.request, visit.reply);
      await enter(visit, parts, await magicLinks.verify(visit.field('token'), visitorOf(visit.request)));
    } catch (error) {
      const { status, problem } = linkProblem(error);
      visit.reply.code(status);
      return signInPage(frameOf(visit, parts), { problem });
    }
    return visit.redirect(pageRoutes.home);
  });
}

function addCodeForms(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { magicLinks, totpSignIns, recoveryCodes, linkSeconds } = parts;
  const minutes = Math.ceil(linkSeconds / 60);
  const forms: Record<string, CodeForm> = {
    [pageRoutes.signInByCode]: {
      way: (given, visitor) => magicLinks.verifyCode(given, visitor),
      page: (frame, view) => checkMailPage(frame, { ...view, minutes, mails: mailsHint(parts) }),
      digits: 6,
    },
    [pageRoutes.signInByApp]: {
      way: (given, visitor) => totpSignIns.verify(given, visitor),
      page: appPage,
      digits: 6,
    },
    [pageRoutes.signInByRecoveryCode]: {
      way: (given, visitor) => recoveryCodes.verify(given, visitor),
      page: recoveryPage,
    },
  };
  for (const [path, form] of Object.entries(forms)) {
    routes.get(path, async (visit) => {
      if (path === pageRoutes.signInByCode) return visit.redirect(pageRoutes.signIn);
      const reader = await readerOf(visit, parts);
      return form.page(frameOf(visit, parts), { email: reader?.user.email });
    });
    routes.post(path, (visit) => enterByCode(visit, parts, form));
  }
}

interface CodeForm {
  way(given: { email: string; code: string }, visitor: Visitor): Promise<TokenPair>;
  page(frame: Frame, view: EntryView): string;
  readonly digits?: number;
}

async function enterByCode(visit: Reading, parts: PageParts, { way, page, digits }: CodeForm) {
  const email = visit.field('email');
  const code = visit.field('code').replace(/\s/g, '');
  const again = (status: number, view: EntryView) => {
    visit.reply.code(status);
    return page(frameOf(visit, parts), { email, ...view });
  };
  const errors = {
    ...(normalizeEmail(email) === undefined ? { email: email ? 'must be an address' : 'is required' } : {}),
    ...codeErrors(code, digits),
  };
  if (Object.keys(errors).length > 0) return again(400, { errors });
  try {
    await parts.limits.verify(visit.request, visit.reply);
    await enter(visit, parts, await way({ email, code }, parts.visitorOf(visit.request)));
  } catch (error) {
    const { status, ...told } = formProblem(error, { INVALID_CODE: 'code', INVALID_TOKEN: 'code' });
    return again(
      status,
      told.errors.code ? { errors: { code: 'is wrong, was used, or has expired' } } : told,
    );
  }
  return visit.redirect(pageRoutes.home);
}

function codeErrors(code: string, digits: number | undefined): Record<string, string> {
  if (code === '') return { code: 'is required' };
  if (digits !== undefined && !/^\d{6}$/.test(code)) return { code: `must be ${digits} digits` };
  return {};
}

function addPasskeySignIn(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { limits, passkeySignIns, visitorOf } = parts;
  routes.post(
    pageRoutes.signInByPasskeyOptions,
    async (visit) => {
      await limits.open(visit.request, visit.reply);
      return sendJson(visit, await passkeySignIns.begin(undefined));
    },
    json,
  );
  routes.post(
    pageRoutes.signInByPasskey,
    async (visit) => {
      await limits.verify(visit.request, visit.reply);
      const answer = readAsserted(visit);
      const visitor = visitorOf(visit.request);
      const pair = await passkeySignIns.complete(answer.pending_id, assertionOf(answer), visitor);
      await enter(visit, parts, pair);
      return sendJson(visit, { location: pageRoutes.home });
    },
    json,
  );
}

function linkProblem(error: unknown): FormProblem {
  const told = formProblem(error, { INVALID_TOKEN: 'link', TOKEN_EXPIRED: 'link' });
  if (!told.errors.link) return told;
  return { ...told, errors: {}, problem: 'This link was used or has expired. Ask for another one.' };
}

/** Whoever was signed in here before is not any more. */
async function enter(visit: Reading, { sessions }: PageParts, pair: TokenPair): Promise<void> {
  const before = visit.who;
  visit.signIn(pair);
  if (before) await sessions.revoke(before.refresh_token);
}
