import { readPassword } from '@octavo/octavo/terminal/read-password';
import type { Client } from '../client.ts';
import type { Context } from '../context.ts';
import { readToken, removeToken, saveToken } from '../credentials.ts';
import { Failure } from '../failure.ts';
import type { Arguments } from '../options.ts';
import { printable } from '../output.ts';

interface Profile {
  readonly username: string | null;
  readonly email: string;
}

interface SignedIn {
  readonly token: string;
  readonly expiresIn: number;
  readonly user: { readonly id: string; readonly email: string };
}

/** Signs in and saves the token. */
export async function login({ client, options, output }: Context): Promise<void> {
  const { token, expiresIn, user } = await signIn(client, options);
  const path = await saveToken(await client.url(), token);
  if (output.json) return output.object({ user, expiresIn });
  output.line(`Signed in as ${user.email} for ${Math.round(expiresIn / 60)} minutes.`);
  output.note(`The token is saved in ${path}.`);
}

/** Ends the session of the token. A saved token is forgotten, also if its session has ended already. */
export async function logout({ client, output }: Context): Promise<void> {
  const url = await client.url();
  try {
    await client.post('/api/auth/logout', undefined);
  } finally {
    if ((await readToken(url)) === client.token) await removeToken(url);
  }
  output.note('Signed out.');
}

export async function whoami({ client, output }: Context): Promise<void> {
  const profile = await client.get<Profile>('/api/users/profile');
  if (output.json) return output.object(profile);
  output.line(
    printable(profile.username === null ? profile.email : `${profile.username} <${profile.email}>`),
  );
}

/** Asks the service for a token, by `--email` and a password from an option, the environment or a prompt. */
export async function signIn(client: Client, options: Arguments['options']): Promise<SignedIn> {
  const { email } = options;
  if (typeof email !== 'string') throw new Failure('usage', '--email is missing.');
  const password = options.password ?? process.env.BUDGET_MANAGER_PASSWORD ?? (await readPassword(email));
  return client.post<SignedIn>('/api/auth/login', { email, password });
}
