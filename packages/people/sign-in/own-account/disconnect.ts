import { AppError } from '@octavo/core';
import { formProblem } from '@octavo/web/html';
import { ownPath, type Visit } from '@octavo/web/pages';
import type { FastifyReply } from 'fastify';
import type { SignInRealm } from '../realm.ts';
import type { ProviderSettings } from '../settings.ts';

/** Handles the form that disconnects the account that is signed in. Its password shows that another way in is left. */
export async function disconnect<T>(
  visit: Visit<T>,
  { people, passwords, signedIn }: SignInRealm<T>,
  { name, isOnly }: Pick<ProviderSettings, 'name' | 'isOnly'>,
): Promise<FastifyReply> {
  const next = ownPath(visit.field('next'));
  const { account } = (await signedIn(visit)) ?? {};
  if (account === undefined) throw new AppError('unauthenticated', 'Sign in to disconnect your account.');
  try {
    if (isOnly || !passwords || !(await passwords.has(account)))
      throw new AppError('conflict', `${name} is your only way to sign in here.`);
    await passwords.check(visit, account, visit.field('password'));
    await people.disconnect(account);
  } catch (error) {
    const { problem, errors } = formProblem(error, {});
    return visit.redirect(next, {
      tone: 'bad',
      text: problem ?? `The password ${Object.values(errors)[0]}.`,
    });
  }
  const text = `Your account is no longer connected to ${name}. Sign in with your password from now on.`;
  return visit.redirect(next, { tone: 'good', text });
}
