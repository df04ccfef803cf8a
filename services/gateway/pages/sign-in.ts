import { AppError, type Fields } from '#kit/errors.ts';
import { notice } from '#kit/html/blocks.ts';
import { count } from '#kit/html/format.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import type { Visit } from '#kit/html/visit.ts';
import { pageRoutes } from '../page-routes.ts';
import { type SignInView, signInPage } from '../views/sign-in.ts';
import { formWithKept, type Kept, keptIn } from './kept.ts';
import type { PageParts, Ticket } from './parts.ts';
import { callerOf, frameOf, type Reader, type Readers } from './reader.ts';

type Parts = Pick<PageParts, 'access'>;

export function addSignInPages(routes: PageRoutes<Ticket>, readers: Readers, parts: Parts): void {
  const signIn = createSignIn(readers, parts);
  routes.get(pageRoutes.signIn, { access: 'public' }, async (visit) => {
    const { next = pageRoutes.posts } = visit.request.query as { next?: string };
    return isSignedIn(visit, parts)
      ? visit.redirect(String(next))
      : signInPage(frameOf(visit), { next: String(next) });
  });
  routes.post(pageRoutes.signIn, { access: 'public' }, signIn);
  routes.post(pageRoutes.signOut, { access: 'public' }, async (visit) => {
    visit.signOut();
    return visit.redirect(pageRoutes.signIn, { tone: 'good', text: 'You are signed out.' });
  });
}

function createSignIn(readers: Readers, { access }: Parts) {
  const goOn = async (visit: Visit<Ticket>, next: string, kept: Kept) => {
    const message = notice('info', 'You are signed in again and your text is here. It is not saved yet.');
    const draw = async ({ frame }: Reader) =>
      formWithKept(frame, { address: next, kept, message }) ?? visit.redirect(next);
    return draw(await readers('post', 'write')(visit));
  };
  return async (visit: Visit<Ticket>) => {
    const username = visit.field('username').trim();
    const password = visit.field('password');
    const next = visit.field('next');
    const kept = keptIn(visit);
    const errors = missing({ username, password });
    if (errors) return again(visit, 422, { next, username, kept, errors });
    const { ip: remoteAddress, id: requestId } = visit.request;
    try {
      const { token } = await access.signIn({ username, password, remoteAddress }, { requestId });
      visit.signIn({ token });
    } catch (error) {
      const told = refusalOf(error);
      if (!told) throw error;
      return again(visit, told.status, { next, username, kept, problem: told.problem });
    }
    return Object.keys(kept).length > 0 ? goOn(visit, next, kept) : visit.redirect(next);
  };
}

function missing(given: Readonly<Record<string, string>>): Fields | undefined {
  const empty = Object.keys(given).filter((name) => given[name] === '');
  return empty.length === 0 ? undefined : Object.fromEntries(empty.map((name) => [name, 'is required']));
}

function again(visit: Visit<Ticket>, status: number, view: SignInView): string {
  visit.reply.code(status);
  return signInPage(frameOf(visit), view);
}

function refusalOf(error: unknown): { status: number; problem: string } | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'unauthenticated') return { status: 401, problem: 'User name or password is wrong.' };
  if (error.code !== 'rate_limited') return undefined;
  const minutes = Math.max(1, Math.ceil((error.retryAfterSeconds ?? 60) / 60));
  return { status: 429, problem: `Too many failed sign-ins. Try again in ${count(minutes, 'minute')}.` };
}

function isSignedIn(visit: Visit<Ticket>, { access }: Parts): boolean {
  try {
    callerOf(visit, access);
    return true;
  } catch {
    return false;
  }
}
