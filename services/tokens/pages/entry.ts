import type { Fields } from '#kit/errors.ts';
import { formProblem } from '#kit/html/form-problem.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import type { Visit } from '#kit/html/visit.ts';
import { strengthOf } from '../password-rules.ts';
import { pageRoutes } from '../routes.ts';
import type { TokenPair } from '../tokens.ts';
import { registerPage, signInPage } from '../views/entry.ts';
import type { PageParts } from './parts.ts';
import { frameOf, readerOf } from './reader.ts';

/** Registering, signing in and out. */
export function addEntryPages(routes: PageRoutes<TokenPair>, parts: PageParts): void {
  const { signIns, accounts, newPasswords } = parts;
  const { charactersMin } = newPasswords;
  routes.get(pageRoutes.register, async (visit) =>
    readerOf(visit, parts)
      ? visit.redirect(pageRoutes.home)
      : registerPage(frameOf(visit), {}, charactersMin),
  );
  routes.get(pageRoutes.signIn, async (visit) => visit.redirect(pageRoutes.home));
  routes.post(pageRoutes.register, (visit) =>
    enter(visit, parts, {
      way: (given) => accounts.register(given, parts.visitorOf(visit.request)),
      again: (view) => registerPage(frameOf(visit), view, charactersMin),
    }),
  );
  routes.post(pageRoutes.signIn, (visit) =>
    enter(visit, parts, {
      way: (given) => signIns.login(given, parts.visitorOf(visit.request)),
      again: (view) => signInPage(frameOf(visit), view),
    }),
  );
  routes.post(pageRoutes.signOut, async (visit) => {
    if (visit.who) signIns.logout(visit.who.refreshToken);
    visit.signOut();
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'You are signed out.' });
  });
  routes.post(
    pageRoutes.checkPassword,
    async (visit) => {
      visit.reply.type('application/json; charset=utf-8');
      return JSON.stringify(await verdictOn(visit.request.body, parts));
    },
    { accepts: 'application/json' },
  );
}

interface Entry {
  way(given: { email: string; password: string }): Promise<TokenPair>;
  again(view: { email: string; errors: Fields; problem?: string }): string;
}

async function enter(visit: Visit<TokenPair>, parts: PageParts, { way, again }: Entry) {
  const given = { email: visit.field('email'), password: visit.field('password') };
  const { email } = given;
  const missing = Object.entries(given).filter(([, value]) => value === '');
  if (missing.length > 0) {
    visit.reply.code(400);
    return again({ email, errors: Object.fromEntries(missing.map(([name]) => [name, 'is required'])) });
  }
  try {
    parts.limit(visit.request, visit.reply);
    visit.signIn(await way(given));
  } catch (error) {
    const { status, ...told } = formProblem(error, fieldByReason);
    visit.reply.code(status);
    return again({ email, ...told });
  }
  return visit.redirect(pageRoutes.home);
}

const fieldByReason = { INVALID_EMAIL: 'email', DUPLICATE_EMAIL: 'email', WEAK_PASSWORD: 'password' };
const words = { 1: 'Weak', 2: 'Fair', 3: 'Good', 4: 'Strong' } as const;

/** What is told while a password is typed. */
async function verdictOn(body: unknown, { newPasswords }: PageParts) {
  const { password, email } = (body ?? {}) as Record<string, unknown>;
  if (typeof password !== 'string') return { text: '', strength: 0 };
  const problem = await newPasswords.problemOf(password, String(email ?? '').toLowerCase());
  if (problem) return { text: `${words[1]}: it ${problem}`, strength: 1 };
  const strength = strengthOf(password);
  return { text: words[strength], strength };
}
