import { newSecret } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { ServiceContext } from '@octavo/data/service';
import {
  OidcSignIn,
  type PeopleStore,
  Provider,
  type ProviderSettings,
  type SignInRealm,
} from '@octavo/people/sign-in';

/** Content of the portal's cookie. */
export interface PortalSession {
  readonly key: string;
}

/** A person who is signed in. */
interface SignedIn {
  readonly account: string;
  readonly sid: string | undefined;
  readonly idToken: string;
  refreshToken: string | undefined;
  roles: readonly string[];
  confirmedMs: number;
  readonly expiresAtMs: number;
}

const sessionMs = 14 * 86_400_000;
const attemptMs = 10 * 60_000;
const everyMs = 30_000;
/** Intervals as in `packages/people/sign-in`: often enough for a role to end in less than 10 minutes, and an hour while the provider is silent. */
const [askMs, unaskedMs, silentMs] = [4 * 60_000, 8 * 60_000, 60 * 60_000];

/** People of the OpenID provider who are signed in to the portal: in memory, since it has no data. After a restart they sign in again. */
export class PortalPeople {
  readonly oidc: OidcSignIn<PortalSession>;
  readonly #sessions = new Map<string, SignedIn>();
  readonly #names = new Map<string, { name: string; roles: readonly string[] }>();
  readonly #attempts = new Map<string, number>();
  readonly #clock: ServiceContext['clock'];
  readonly #provider: Provider;

  constructor(settings: ProviderSettings, { clock, log, suite }: ServiceContext, secret: string) {
    this.#clock = clock;
    // There is no other way to sign in here.
    const only = { ...settings, isOnly: true };
    const common = { settings: only, name: 'portal', title: 'Octavo', secret, clock, log, suite };
    this.#provider = new Provider(common);
    this.oidc = new OidcSignIn({ ...common, realms: { site: this.#realm() } }, this.#provider);
  }

  /** The person signed in with a key; undefined once the session has ended. */
  of(key: string | undefined): { name: string; isAdministrator: boolean } | undefined {
    const session = key === undefined ? undefined : this.#sessions.get(key);
    if (!session || session.expiresAtMs <= this.#clock.now()) return undefined;
    const { name = '' } = this.#names.get(session.account) ?? {};
    return { name, isAdministrator: session.roles.includes('admin') };
  }

  /** Asks for roles again in the background, until it is disposed of. */
  work(log: ServiceContext['log']): AsyncDisposable {
    return runEvery(everyMs, () => this.check(), { log, failure: 'people of the portal were not checked' });
  }

  /** Asks the provider for the roles of sessions that have some, and drops what has expired. */
  async check(): Promise<void> {
    const nowMs = this.#clock.now();
    for (const [key, { expiresAtMs }] of this.#sessions) if (expiresAtMs <= nowMs) this.#sessions.delete(key);
    for (const [state, untilMs] of this.#attempts) if (untilMs <= nowMs) this.#attempts.delete(state);
    const accounts = new Set([...this.#sessions.values()].map(({ account }) => account));
    for (const account of this.#names.keys()) if (!accounts.has(account)) this.#names.delete(account);
    const due = [...this.#sessions].filter(
      ([, { roles, confirmedMs }]) => roles.length > 0 && nowMs - confirmedMs >= askMs,
    );
    await Promise.all(due.map(([key, session]) => this.#ask(key, session, nowMs - session.confirmedMs)));
  }

  async #ask(key: string, session: SignedIn, ageMs: number): Promise<void> {
    if (session.refreshToken === undefined) {
      if (ageMs >= unaskedMs) session.roles = [];
      return;
    }
    try {
      const found = await this.#provider.refresh(session.refreshToken, session.account);
      if (found === 'ended') return void this.#sessions.delete(key);
      session.roles = found.roles;
      session.refreshToken = found.grant.refreshToken ?? session.refreshToken;
      session.confirmedMs = this.#clock.now();
    } catch {
      if (ageMs >= silentMs) session.roles = [];
    }
  }

  #realm(): SignInRealm<PortalSession> {
    return {
      people: this.#store(),
      signInPath: '/sign-in',
      start: async (visit, account) => {
        const key = newSecret();
        visit.signIn({ key });
        const { name, roles = [] } = this.#names.get(account) ?? {};
        const text =
          name === 'administrator'
            ? 'You are signed in as an administrator.'
            : `You are signed in as ${name}, an administrator.`;
        if (roles.includes('admin')) visit.leaveFlash({ tone: 'good', text });
        return { key, expiresAtMs: this.#clock.now() + sessionMs };
      },
      signedIn: async ({ who }) => {
        const session = who && this.#sessions.get(who.key);
        return session && { account: session.account, key: who.key };
      },
    };
  }

  #store(): PeopleStore {
    return {
      accountOf: async ({ subject, name, roles }) => {
        this.#names.set(subject, { name, roles });
        return subject;
      },
      accountOfHolder: async ({ subject }) => subject,
      connect: async () => {},
      subjectOf: async (account) => account,
      disconnect: async () => {},
      keepSession: async ({ key, person: { subject: account, sid }, grant, expiresAtMs }) => {
        const { roles = [] } = this.#names.get(account) ?? {};
        this.#sessions.set(key, {
          account,
          sid,
          ...grant,
          roles,
          confirmedMs: this.#clock.now(),
          expiresAtMs,
        });
      },
      leave: async (key) => {
        const session = this.#sessions.get(key);
        this.#sessions.delete(key);
        // At once only: the session at the provider ends next, and its grants with it.
        if (session?.refreshToken) await this.#provider.revoke(session.refreshToken).catch(() => {});
        return session?.idToken;
      },
      end: async ({ subject, sid }) => {
        for (const [key, session] of this.#sessions) {
          const isTheirs = subject === undefined || session.account === subject;
          // As in `packages/people/sign-in`: a session that knows no id at the provider may be any of the person.
          const isMeant = sid === undefined || session.sid === sid || (subject && session.sid === undefined);
          if (isTheirs && isMeant) this.#sessions.delete(key);
        }
      },
      useUp: async (state) => {
        if (this.#attempts.has(state)) return false;
        this.#attempts.set(state, this.#clock.now() + attemptMs);
        return true;
      },
    };
  }
}
