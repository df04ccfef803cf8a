import type { FastifyReply } from 'fastify';
import { type FormProblem, formProblem, isRefusal } from '#kit/html/form-problem.ts';
import type { PageHandler, PageRoutes } from '#kit/html/pages.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { Caller } from '../caller.ts';
import { pageRoutes } from '../routes.ts';
import type { TokenPair } from '../tokens.ts';
import { type AccountView, accountPage } from '../views/account.ts';
import { signInPage } from '../views/entry.ts';
import type { PageParts } from './parts.ts';
import { frameOf, readerOf } from './reader.ts';

type Work = (visit: Visit<TokenPair>, reader: Caller) => Promise<string | FastifyReply>;

/** The page of whoever is signed in, and its forms. */
export function addAccountPages(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  routes.get(pageRoutes.home, async (visit) => {
    const reader = readerOf(visit, parts);
    return reader ? show(visit, parts, reader) : signInAgain(visit);
  });
  for (const path of forms) routes.get(path, async (visit) => visit.redirect(pageRoutes.home));
  addSessionForms(routes, parts);
  addConfirmedForms(routes, parts);
}

const forms = [
  pageRoutes.refresh,
  pageRoutes.endSession,
  pageRoutes.endAllSessions,
  pageRoutes.changePassword,
  pageRoutes.changeEmail,
  pageRoutes.deleteAccount,
];

function addSessionForms(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { signIns, visitorOf } = parts;
  const act = actions(parts);
  routes.post(
    pageRoutes.refresh,
    act(async (visit) => {
      try {
        visit.renew(signIns.refresh(visit.who?.refreshToken ?? '', visitorOf(visit.request)));
      } catch (error) {
        if (!isRefusal(error, 'INVALID_TOKEN')) throw error;
        // A double click: the answer to the first has the new tokens, and saying anything here would put the old ones back.
        return visit.redirect(pageRoutes.home);
      }
      return visit.redirect(pageRoutes.home, {
        tone: 'good',
        text: 'Both tokens were exchanged for new ones.',
      });
    }),
  );
  routes.post(
    pageRoutes.endSession,
    act(async (visit, reader) => {
      const id = visit.field('id');
      signIns.revokeSession(reader, id);
      if (id === reader.session.id) visit.signOut();
      return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The session has ended.' });
    }),
  );
  routes.post(
    pageRoutes.endAllSessions,
    act(async (visit, reader) => {
      signIns.logoutAll(reader);
      visit.signOut();
      return visit.redirect(pageRoutes.home, { tone: 'good', text: 'All sessions have ended.' });
    }),
  );
}

function addConfirmedForms(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const act = actions(parts);
  routes.post(
    pageRoutes.changePassword,
    act(async (visit, reader) => {
      const problem = await tried(visit, passwordChange(visit, reader, parts));
      if (problem) return show(visit, parts, reader, problem);
      visit.signOut();
      const text = 'Your password is changed and all sessions have ended. Sign in with the new one.';
      return visit.redirect(pageRoutes.home, { tone: 'good', text });
    }),
  );
  routes.post(
    pageRoutes.changeEmail,
    act(async (visit, reader) => {
      const problem = await tried(visit, emailChange(visit, reader, parts));
      if (problem) return show(visit, parts, reader, { ...problem, newEmail: visit.field('newEmail') });
      return visit.redirect(pageRoutes.home, { tone: 'good', text: 'Your e-mail address is changed.' });
    }),
  );
  routes.post(
    pageRoutes.deleteAccount,
    act(async (visit, reader) => {
      const problem = await tried(visit, {
        needs: ['deletePassword'],
        work: () => parts.accounts.remove(reader, visit.field('deletePassword')),
        fieldByReason: confirmedBy('deletePassword'),
      });
      if (problem) return show(visit, parts, reader, problem);
      visit.signOut();
      return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The account is deleted.' });
    }),
  );
}

function passwordChange(visit: Visit<TokenPair>, reader: Caller, { accounts }: PageParts): Attempted {
  const [currentPassword, newPassword] = [visit.field('currentPassword'), visit.field('newPassword')];
  return {
    needs: ['currentPassword', 'newPassword'],
    work: () => accounts.changePassword(reader, { currentPassword, newPassword }),
    fieldByReason: { ...confirmedBy('currentPassword'), WEAK_PASSWORD: 'newPassword' },
  };
}

function emailChange(visit: Visit<TokenPair>, reader: Caller, { accounts }: PageParts): Attempted {
  const given = { newEmail: visit.field('newEmail'), password: visit.field('emailPassword') };
  return {
    needs: ['newEmail', 'emailPassword'],
    work: () => accounts.changeEmail(reader, given),
    fieldByReason: {
      ...confirmedBy('emailPassword'),
      INVALID_EMAIL: 'newEmail',
      DUPLICATE_EMAIL: 'newEmail',
    },
  };
}

function confirmedBy(field: string): Record<string, string> {
  return { INVALID_CREDENTIALS: field, ACCOUNT_LOCKED: field };
}

/** Forms of who is signed in; others are asked to, and everybody within the limit. */
function actions(parts: PageParts): (work: Work) => PageHandler<TokenPair> {
  return (work) => async (visit) => {
    const reader = readerOf(visit, parts);
    if (!reader) {
      visit.reply.code(401);
      return signInAgain(visit);
    }
    parts.limit(visit.request, visit.reply);
    return work(visit, reader);
  };
}

interface Attempted {
  readonly needs: readonly string[];
  work(): Promise<unknown>;
  readonly fieldByReason: Readonly<Record<string, string>>;
}

/** What keeps a form from being done: fields that are empty, else what the work is refused with. */
async function tried(
  visit: Visit<TokenPair>,
  { needs, work, fieldByReason }: Attempted,
): Promise<FormProblem | undefined> {
  const missing = needs.filter((name) => visit.field(name) === '');
  if (missing.length > 0) {
    return { status: 400, errors: Object.fromEntries(missing.map((name) => [name, 'is required'])) };
  }
  try {
    await work();
    return undefined;
  } catch (error) {
    return formProblem(error, fieldByReason);
  }
}

function signInAgain(visit: Visit<TokenPair>): string {
  const problem =
    visit.who && 'Your session has ended. Sign in again, or reload if you are signed in in another tab.';
  return signInPage(frameOf(visit), { problem });
}

function show(
  visit: Visit<TokenPair>,
  { signIns, newPasswords, clock }: PageParts,
  reader: Caller,
  failed?: FormProblem & { newEmail?: string },
): string {
  if (failed) visit.reply.code(failed.status);
  const { user, session: current, claims } = reader;
  const sessions = signIns.sessionsOf(reader).map((session) => ({
    ...session.visitor,
    id: session.id,
    isCurrent: session === current,
    createdMs: session.createdMs,
    lastUsedMs: session.lastUsedMs,
  }));
  const view: AccountView = {
    id: user.id,
    email: user.email,
    createdMs: user.createdMs,
    claims,
    nowMs: clock.now(),
    sessions,
    charactersMin: newPasswords.charactersMin,
    newEmail: failed?.newEmail,
    errors: failed?.problem ? { form: failed.problem } : (failed?.errors ?? {}),
  };
  return accountPage(frameOf(visit, reader), view);
}
