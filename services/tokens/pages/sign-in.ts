import { type PasswordRules, strengthOf } from '@octavo/core/passwords';
import { field, formProblem, type Html, html, linkButton, standalone } from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import { visitorOf } from '@octavo/web/server';
import type { TokenPair } from '../accounts/tokens.ts';
import { pageRoutes } from '../routes.ts';
import {
  type CredentialsView,
  callerOf,
  emailField,
  frameOf,
  type PagesOptions,
  problems,
  signInPage,
} from './pages.ts';

const open = { access: 'public' } as const;

/** Registering, signing in and out. */
export function addSignInPages(routes: PageRoutes<TokenPair>, options: PagesOptions): void {
  const { signIns, accounts, passwordRules } = options;
  const { charactersMin } = passwordRules;
  routes.get(pageRoutes.register, open, async (visit) =>
    callerOf(visit, signIns) ? visit.redirect(pageRoutes.home) : registerPage(visit, {}, charactersMin),
  );
  routes.get(pageRoutes.signIn, open, async (visit) => visit.redirect(pageRoutes.home));
  routes.post(pageRoutes.register, open, (visit) =>
    submit(visit, options, {
      start: (given) => accounts.register(given, visitorOf(visit.request)),
      withoutTokens: 'Open the link that was mailed to you, then sign in.',
      again: (view) => registerPage(visit, view, charactersMin),
    }),
  );
  routes.post(pageRoutes.signIn, open, (visit) =>
    submit(visit, options, {
      start: (given) => signIns.login(given, visitorOf(visit.request)),
      again: (view) => signInPage(visit, view),
    }),
  );
  routes.post(pageRoutes.signOut, open, async (visit) => {
    if (visit.who) signIns.logout(visit.who.refreshToken);
    visit.signOut();
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'You are signed out.' });
  });
  // May arrive after the form was sent and its session has ended. It reveals nothing about a person.
  const rating = { ...open, accepts: 'application/json', proof: 'origin' } as const;
  routes.post(pageRoutes.checkPassword, rating, async (visit) => {
    visit.reply.type('application/json; charset=utf-8');
    return JSON.stringify(await rate(visit.request.body, passwordRules));
  });
}

interface Submission {
  start(given: { email: string; password: string }): Promise<TokenPair | undefined>;
  /** Shown if there are no tokens yet. */
  readonly withoutTokens?: string;
  again(view: CredentialsView): string;
}

async function submit(
  visit: Visit<TokenPair>,
  { limit }: PagesOptions,
  { start, withoutTokens = '', again }: Submission,
) {
  const given = { email: visit.field('email'), password: visit.field('password') };
  const { email } = given;
  const missing = Object.entries(given).filter(([, value]) => value === '');
  if (missing.length > 0) {
    visit.reply.code(400);
    return again({ email, errors: Object.fromEntries(missing.map(([name]) => [name, 'is required'])) });
  }
  try {
    limit(visit.request, visit.reply);
    const tokens = await start(given);
    if (!tokens) return visit.redirect(pageRoutes.home, { tone: 'good', text: withoutTokens });
    visit.signIn(tokens);
  } catch (error) {
    const { status, ...shown } = formProblem(error, fieldByReason);
    visit.reply.code(status);
    return again({ email, ...shown });
  }
  return visit.redirect(pageRoutes.home);
}

const fieldByReason = { INVALID_EMAIL: 'email', DUPLICATE_EMAIL: 'email', WEAK_PASSWORD: 'password' };

const ratings = { 1: 'Weak', 2: 'Fair', 3: 'Good', 4: 'Strong' } as const;

/** Rates a new password while it is typed. */
async function rate(body: unknown, passwordRules: PasswordRules) {
  const { password, email } = (body ?? {}) as Record<string, unknown>;
  if (typeof password !== 'string') return { text: '', strength: 0 };
  const problem = await passwordRules.problemOf(password, {
    email: String(email ?? '').toLowerCase(),
  });
  if (problem) return { text: `${ratings[1]}: it ${problem}`, strength: 1 };
  const strength = strengthOf(password);
  return { text: ratings[strength], strength };
}

function registerPage(visit: Visit<TokenPair>, view: CredentialsView, charactersMin: number): string {
  const frame = frameOf(visit);
  const error = view.errors?.password;
  return standalone(frame, {
    title: 'Create account',
    modules: ['strength.js'],
    main: html`${problems(view, 'Check these fields')}
<form class="stack" method="post" action="${pageRoutes.register}" novalidate>${frame.csrfField}${emailField(view)}
${newPasswordField({ name: 'password', label: 'Password', error, charactersMin })}
<button class="wide">Create account</button></form>
<p class="actions"><span class="muted">Already have an account?</span>${linkButton(pageRoutes.home, 'Sign in', 'quiet')}</p>`,
  });
}

/** Field that shows the strength of the password while typing, with scripts. */
export function newPasswordField(options: {
  name: string;
  label: string;
  error: string | undefined;
  charactersMin: number;
}): Html {
  const { name, label, error, charactersMin } = options;
  return field({
    name,
    label,
    type: 'password',
    error,
    help: `At least ${charactersMin} characters. A few unrelated words are hard to guess and easy to remember.`,
    attributes: { autocomplete: 'new-password', 'data-strength': pageRoutes.checkPassword },
  });
}
