import type { Clock } from '@octavo/core';
import { newSecret } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import type { Database, WriteSession } from '@octavo/data';
import type { Audit } from '../audit.ts';
import { ensureClient, type NewClient } from '../oidc/index.ts';
import { pageRoutes } from '../routes.ts';
import type { Sessions, TokenPair } from '../sessions/index.ts';
import type { Site } from '../site.ts';
import type { Tables } from '../store/store.ts';
import { addRole, createOwner, listRoles, lockAddress, type User, usersOf } from '../users/index.ts';

/** Roles of the demo accounts, by their names in the portal. */
export const demoRoles = { administrator: 'admin', editor: 'editor', reader: 'viewer' } as const;

export type DemoRole = keyof typeof demoRoles;

interface SuiteSignInParts {
  readonly database: Database<Tables>;
  readonly sessions: Sessions;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly site: Site;
}

/** A visit to a demo account, and where it leads. */
interface DemoVisit {
  readonly role: DemoRole;
  readonly target: string;
}

/** Issues an access token of the OpenID provider. */
type IssueToken = (token: {
  readonly audience: string;
  readonly userId: string;
}) => Promise<string | undefined>;

const setupMs = 60 * 60_000;
const demoMs = 60_000;
const ticketsMax = 1_000;

/** The sign-in of the services that run in this process: their applications, their first administrator and their demo accounts. */
export class SuiteSignIn {
  readonly #parts: SuiteSignInParts;
  readonly #setups: Tickets<true>;
  readonly #demos: Tickets<DemoVisit>;
  #issue: IssueToken | undefined;

  constructor(parts: SuiteSignInParts) {
    this.#parts = parts;
    this.#setups = new Tickets(parts.clock, setupMs);
    this.#demos = new Tickets(parts.clock, demoMs);
  }

  /** The address of the OpenID provider. */
  get issuer(): string {
    return this.#parts.site.issuer;
  }

  /** Registers a service under a secret that it keeps, or brings it up to date. */
  async register(client: NewClient & { readonly secret: string }): Promise<void> {
    await ensureClient(this.#parts, client);
  }

  /** The address at which the administrator of all services is created: once, within an hour. Undefined where there is one. */
  async setupAddress(): Promise<string | undefined> {
    if (await this.#hasAdministrator()) return undefined;
    return `${this.issuer}${pageRoutes.setup.replace(':ticket', this.#setups.issue(true))}`;
  }

  /** Returns true if a setup link works. */
  async canSetUp(ticket: string): Promise<boolean> {
    return this.#setups.look(ticket) !== undefined && !(await this.#hasAdministrator());
  }

  /** Uses a setup link: the owner of the address is administrator of all services. Undefined if the link does not work. */
  async setUp(ticket: string, email: string, visitor: Visitor): Promise<TokenPair | undefined> {
    if (await this.#hasAdministrator()) return undefined;
    if (this.#setups.take(ticket) === undefined) return undefined;
    return this.#signIn(email, 'admin', visitor);
  }

  /** The address that signs a visitor in to a demo account: once, within a minute. It leads on to `target`. */
  demoAddress(role: DemoRole, target: string): string {
    return `${this.issuer}${pageRoutes.demoSignIn.replace(':ticket', this.#demos.issue({ role, target }))}`;
  }

  /** Uses a demo address. Undefined if it does not work. */
  async demoSignIn(
    ticket: string,
    visitor: Visitor,
  ): Promise<{ pair: TokenPair; target: string } | undefined> {
    const visit = this.#demos.take(ticket);
    if (!visit) return undefined;
    const pair = await this.#signIn(demoEmail(visit.role), demoRoles[visit.role], visitor);
    return { pair, target: visit.target };
  }

  /** Lets {@link demoToken} issue tokens; the provider is made after this. */
  issueBy(issue: IssueToken): void {
    this.#issue = issue;
  }

  /** An access token of a demo account for the service with this address, for 10 minutes. Undefined if it is not registered. */
  async demoToken(role: DemoRole, audience: string): Promise<string | undefined> {
    const { database, clock } = this.#parts;
    const user = await database.write((session) => this.#owner(session, demoEmail(role)));
    await addRole({ database, clock }, user.id, { role: demoRoles[role], service: undefined });
    return this.#issue?.({ audience, userId: user.id });
  }

  async #signIn(email: string, role: string, visitor: Visitor): Promise<TokenPair> {
    const { database, sessions, clock } = this.#parts;
    const { userId, pair } = await database.write(async (session) => {
      const user = await this.#owner(session, email);
      return { userId: user.id, pair: await sessions.open(session, { user, amr: ['email'], visitor }) };
    });
    await addRole({ database, clock }, userId, { role, service: undefined });
    return pair;
  }

  /** The user who owns an address, who is created if there is none. */
  async #owner(session: WriteSession<Tables>, email: string): Promise<User> {
    const { audit, clock } = this.#parts;
    await lockAddress(session, email);
    const users = await usersOf(session, email);
    return (
      users.find(({ isVerified }) => isVerified) ??
      (await createOwner({ session, audit }, users, { email, nowMs: clock.now() }))
    );
  }

  async #hasAdministrator(): Promise<boolean> {
    const roles = await listRoles(this.#parts.database);
    return roles.some(
      ({ role, service, email }) =>
        role === 'admin' && service === undefined && !email.endsWith('@demo.example'),
    );
  }
}

function demoEmail(role: DemoRole): string {
  return `${role}@demo.example`;
}

/** Secrets that each work once, in the memory of this process. */
class Tickets<T> {
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #open = new Map<string, { readonly value: T; readonly expiresMs: number }>();

  constructor(clock: Clock, lifetimeMs: number) {
    this.#clock = clock;
    this.#lifetimeMs = lifetimeMs;
  }

  /** A new ticket; the oldest one ends where there are too many. */
  issue(value: T): string {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= ticketsMax) this.#open.delete(oldest);
    const ticket = newSecret();
    this.#open.set(ticket, { value, expiresMs: this.#clock.now() + this.#lifetimeMs });
    return ticket;
  }

  /** The value of a ticket that works, without using it. */
  look(ticket: string): T | undefined {
    const found = this.#open.get(ticket);
    return found && found.expiresMs > this.#clock.now() ? found.value : undefined;
  }

  /** Uses a ticket. Undefined if it was used, has expired, or never was. */
  take(ticket: string): T | undefined {
    const value = this.look(ticket);
    this.#open.delete(ticket);
    return value;
  }
}
