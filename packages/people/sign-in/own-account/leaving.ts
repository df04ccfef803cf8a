import { AppError } from '@octavo/core';
import type { PageContent } from '@octavo/web/html';
import { type FormProblem, formProblem } from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import type { FastifyReply } from 'fastify';
import type { OidcSignIn } from '../pages.ts';
import type { AccountPasswords } from '../realm.ts';
import { leavingPage } from './leaving-views.ts';

/** A signed-in user who may erase the own account. */
export interface Leaver {
  /** Account as {@link SignInRealm} names it. */
  readonly account: string;
  /** Name on the page; undefined for accounts without one. */
  readonly name: string | undefined;
}

export interface LeavingOptions<T> {
  /** The service's name on pages. */
  readonly service: string;
  /** Path of the page. Those of the account, of the sign-in, and of the page to open afterwards. */
  readonly paths: { readonly leave: string; readonly account: string; signIn: string; after: string };
  /** The things that go with an account, and those that stay of it: one line each, to be read after "These are erased" and "These stay". */
  readonly erased: readonly string[];
  readonly kept: readonly string[];
  /** Absent for accounts that never have one. */
  readonly passwords?: AccountPasswords<T> | undefined;
  readonly oidc?: OidcSignIn<T> | undefined;
  /** The account that is signed in; undefined for strangers. */
  find(visit: Visit<T>): Promise<Leaver | undefined>;
  /** Erases the account and its sessions. Throws `conflict` (reason `LAST_ADMINISTRATOR`) for an account that cannot go. */
  erase(visit: Visit<T>, leaver: Leaver): Promise<void>;
  /** Forgets the sign-in in the browser. */
  signOut(visit: Visit<T>): void;
  /** The page in the frame of the service. */
  render(visit: Visit<T>, page: PageContent): string | Promise<string>;
}

const action = 'leave';

/**
 * Adds the page on which people erase their account. It says what goes and what stays, and asks for the password, or for a fresh sign-in
 * at the provider by people who are connected.
 */
export function addLeavingPage<T>(routes: PageRoutes<T>, options: LeavingOptions<T>): void {
  const { paths } = options;
  const open = { access: 'public' } as const;
  routes.get(paths.leave, open, async (visit) => {
    const leaver = await options.find(visit);
    if (!leaver) return visit.redirect(`${paths.signIn}?next=${encodeURIComponent(paths.leave)}`);
    return show(visit, options, { leaver });
  });
  routes.post(paths.leave, open, async (visit) => {
    const leaver = await options.find(visit);
    if (!leaver) throw new AppError('unauthenticated', 'Sign in to erase your account.');
    if (visit.field('step') === 'confirm' && options.oidc)
      return options.oidc.confirmations.begin(visit, { action, next: paths.leave });
    return leave(visit, options, leaver);
  });
}

async function leave<T>(
  visit: Visit<T>,
  options: LeavingOptions<T>,
  leaver: Leaver,
): Promise<string | FastifyReply> {
  try {
    await prove(visit, options, leaver);
    await options.erase(visit, leaver);
  } catch (error) {
    // Another request erased it at the same time.
    if (!(await options.find(visit))) throw error;
    const problem = formProblem(error, { WRONG_PASSWORD: 'password' });
    visit.reply.code(problem.status);
    return show(visit, options, { leaver, problem });
  }
  options.signOut(visit);
  const text = `Your account of ${options.service} is erased.`;
  return visit.redirect(options.paths.after, { tone: 'good', text });
}

/** Throws unless the form has the right password, or the browser a confirmation of the provider, which is used up. */
async function prove<T>(
  visit: Visit<T>,
  { passwords, oidc }: LeavingOptions<T>,
  { account }: Leaver,
): Promise<void> {
  if (await oidc?.confirmations.take(visit, action)) return;
  const hasPassword = await mayUsePassword({ passwords, oidc }, account);
  if (!hasPassword) {
    const message = `Confirm with ${oidc?.providerName ?? 'a sign-in'} first. A confirmation works once, for 5 minutes.`;
    throw new AppError('forbidden', message);
  }
  const password = visit.field('password');
  if (password === '')
    throw new AppError('validation_failed', 'The password is required.', {
      fields: { password: 'is required' },
    });
  await passwords?.check(visit, account, password);
}

async function mayUsePassword<T>(
  { passwords, oidc }: Pick<LeavingOptions<T>, 'passwords' | 'oidc'>,
  account: string,
): Promise<boolean> {
  return !oidc?.isOnly && ((await passwords?.has(account)) ?? false);
}

async function show<T>(
  visit: Visit<T>,
  options: LeavingOptions<T>,
  { leaver, problem }: { leaver: Leaver; problem?: FormProblem },
): Promise<string> {
  const { oidc, paths, service, erased, kept } = options;
  const { account, name } = leaver;
  const isConnected = (await oidc?.isConnected(account)) ?? false;
  return options.render(
    visit,
    leavingPage({
      service,
      paths,
      erased,
      kept,
      name,
      problem,
      csrfField: visit.frame().csrfField,
      providerName: isConnected ? oidc?.providerName : undefined,
      // A problem means that the confirmation was used up.
      isConfirmed: !problem && ((await oidc?.confirmations.has(visit, action)) ?? false),
      hasPassword: await mayUsePassword(options, account),
    }),
  );
}
