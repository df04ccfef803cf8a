import { newSecret } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { ServiceParts } from '@octavo/data/service';
import {
  type AccountHost,
  Checks,
  Identities,
  OidcSignIn,
  type oidcSettings,
  type Person,
  Provider,
  providerOf,
  type SignInRealm,
} from '@octavo/people/sign-in';
import { pageRoutes } from '../routes.ts';
import type { Tables } from '../tables.ts';
import type { Gate, People } from './gate.ts';
import { rememberName } from './store.ts';

/** Longest session of a browser. */
const sessionMs = 14 * 86_400_000;

/** The sign-in with the provider of the settings; undefined without one. */
export function openPeople(
  { config, context, stack }: Pick<ServiceParts<typeof oidcSettings>, 'config' | 'context' | 'stack'>,
  { database, secret, gateOf }: { database: Database<Tables>; secret: string; gateOf: () => Gate },
): People | undefined {
  const provided = providerOf(config);
  if (!provided) return undefined;
  const { clock, log, suite } = context;
  const common = { settings: provided, name: 'chat', title: 'Chat', secret, clock, log, suite };
  const provider = new Provider(common);
  const people = new NamedPeople({ database, clock, secret, issuer: provided.issuer, host: owners });
  stack.use(new Checks({ identities: people, provider, log }));
  const site: SignInRealm<never> = {
    people,
    signInPath: pageRoutes.signIn,
    async start({ reply }, account) {
      const key = newSecret(16);
      const expiresAtMs = clock.now() + sessionMs;
      gateOf().rememberPerson(reply, { account, key, expiresAtMs });
      return { key, expiresAtMs };
    },
    signedIn: async ({ request }) => gateOf().personOf(request.cookies, clock.now()),
  };
  const oidc = new OidcSignIn<never>({ ...common, realms: { site } }, provider);
  return {
    oidc,
    hasSession: (key) => people.hasSession(key),
    async holderOf(token) {
      const holder = await oidc.holderOf(token);
      return holder && { owner: `person:${holder.account}`, isAdmin: holder.roles.includes('admin') };
    },
    async isAdmin(account) {
      return (await people.rolesOf(account)).includes('admin');
    },
  };
}

/** Accounts without anything of their own, under which documents and chats belong to people. */
const owners: AccountHost<Tables> = {
  has: async () => true,
  create: async () => newSecret(16),
  async setRoles() {},
  async end() {},
};

/** Remembers what people are called, so that administrators know whose documents they look after. */
class NamedPeople extends Identities<Tables> {
  override async accountOf(person: Person): Promise<string> {
    const account = await super.accountOf(person);
    await rememberName(this.options.database, account, person.name);
    return account;
  }
}
