import type { Clock, Log } from '@octavo/core';
import { AppError, ownSite, type Suite, signInPath } from '@octavo/core';
import { createSessionCookie, type SessionCookie } from '@octavo/core/auth';
import { type Content, html, standalone } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { ownPath, type Visit } from '@octavo/web/pages';
import type { FastifyReply } from 'fastify';
import { Attempts, type KeptAttempt } from './attempts.ts';
import { Confirmations } from './own-account/confirmations.ts';
import { disconnect } from './own-account/disconnect.ts';
import { type Finished, Provider } from './provider.ts';
import type { SignInRealm } from './realm.ts';
import type { ProviderSettings } from './settings.ts';
import { ProviderTokens, type TokenHolder } from './tokens.ts';
import { connectionCard, signInChoice } from './views.ts';

export interface OidcSignInOptions<T> {
  readonly settings: ProviderSettings;
  /** The service's name in lower case, for its cookies. */
  readonly name: string;
  /** Name on pages. */
  readonly title: string;
  /** Encrypts cookies; at least 32 bytes. */
  readonly secret: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The suite that the service belongs to. Without an address in the settings, its own there is the audience of access tokens. */
  readonly suite: Suite | undefined;
  /** The accounts of the pages, and those of the admin if they differ: the path to open afterwards tells which ones are meant. */
  readonly realms: { readonly site: SignInRealm<T>; readonly admin?: SignInRealm<T> };
}

export const oidcRoutes = {
  begin: signInPath,
  callback: '/sign-in/oidc/callback',
  connect: '/sign-in/oidc/connect',
  disconnect: '/sign-in/oidc/disconnect',
  backChannel: '/sign-in/oidc/back-channel',
  left: '/sign-in/oidc/left',
} as const;

const pathCharactersMax = 512;
const leftSeconds = 3_600;
const leaveAgainSeconds = 15;

/** The sign-in of a service's pages with an OpenID provider. */
export class OidcSignIn<T> {
  readonly provider: Provider;
  readonly tokens: ProviderTokens;
  /** Fresh sign-ins in place of a password. */
  readonly confirmations: Confirmations<T>;
  readonly #options: OidcSignInOptions<T>;
  readonly #attempts: Attempts;
  /**
   * The ID token of a browser that signed out while the provider did not answer: for an hour it tries again, and a sign-in asks who is
   * there.
   */
  readonly #left: SessionCookie<string>;

  constructor(options: OidcSignInOptions<T>, provider = new Provider(options)) {
    const { name, secret, clock } = options;
    this.#options = options;
    this.provider = provider;
    this.tokens = new ProviderTokens(provider);
    this.#attempts = new Attempts({ name, secret, clock });
    this.confirmations = new Confirmations({
      name,
      secret,
      clock,
      providerName: options.settings.name,
      realmOf: (path) => this.#realmFor(path),
      go: (visit, kept) => this.#go(visit, kept, 'Confirming'),
    });
    const maxAgeSeconds = leftSeconds;
    this.#left = createSessionCookie({
      name: `${name}_oidc_left`,
      secret,
      clock,
      maxAgeSeconds,
      sameSite: 'lax',
    });
  }

  /** True if passwords are off. */
  get isOnly(): boolean {
    return this.#options.settings.isOnly;
  }

  /** The provider's name on pages. */
  get providerName(): string {
    return this.#options.settings.name;
  }

  /** The button for a sign-in page, which says so if the provider does not answer. `isAlone` is true if no form follows. */
  async choice(next: string, isAlone = this.isOnly): Promise<Content> {
    const { name } = this.#options.settings;
    const answers = await this.provider.answers();
    return signInChoice({ name, href: beginPath(next), answers, isOnly: isAlone });
  }

  /** A card for the page of an account: says that it is connected and disconnects it, or connects it. `next` is the path of that page. */
  async connection(visit: Visit<T>, account: string, next = visit.request.url): Promise<Content> {
    const { people, passwords } = this.#realmFor(next);
    const { settings: provider, title: service } = this.#options;
    return connectionCard({
      provider,
      service,
      paths: oidcRoutes,
      csrfField: visit.frame().csrfField,
      isConnected: (await people.subjectOf(account)) !== undefined,
      hasPassword: (await passwords?.has(account)) ?? false,
      next,
    });
  }

  /** True if the account, of the pages, is connected to the provider. */
  async isConnected(account: string): Promise<boolean> {
    return (await this.#options.realms.site.people.subjectOf(account)) !== undefined;
  }

  /**
   * Signs the browser out of the provider, too, after the session with this key has ended here. Returns true if it has responded, and false
   * if the session did not begin at the provider. (A reply that is awaited becomes undefined.)
   */
  async signOut(visit: Visit<T>, key: string | undefined): Promise<boolean> {
    if (key === undefined) return false;
    const { site, admin = site } = this.#options.realms;
    const idToken =
      (await site.people.leave(key)) ?? (admin === site ? undefined : await admin.people.leave(key));
    if (idToken === undefined) return false;
    const url = await this.provider.signOutUrl(idToken, `${this.#addressOf(visit)}/`).catch(() => undefined);
    if (url !== undefined) {
      this.#lead(visit, url, 'Signing out');
    } else {
      this.#left.write(visit.reply, idToken);
      visit.redirect(oidcRoutes.left);
    }
    return true;
  }

  /**
   * The account of an access token of the provider for this service, with the roles that it names. Undefined for other tokens.
   * Throws `unauthenticated` if it is not valid, and `unavailable` without the keys of the provider.
   */
  async holderOf(
    token: string,
  ): Promise<(Pick<TokenHolder, 'roles' | 'amr' | 'expiresAtMs'> & { account: string }) | undefined> {
    if (!this.tokens.isOurs(token)) return undefined;
    const { settings, realms, suite } = this.#options;
    const holder = await this.tokens.holderOf(token, settings.address ?? ownSite(suite)?.url);
    const account = await realms.site.people.accountOfHolder(holder);
    const { roles, amr, expiresAtMs } = holder;
    return { account, roles, amr, expiresAtMs };
  }

  /** Adds the addresses of the sign-in. */
  addRoutes(routes: PageRoutes<T>): void {
    const open = { access: 'public' } as const;
    routes.get(oidcRoutes.begin, open, (visit) => this.#begin(visit));
    routes.get(oidcRoutes.callback, open, (visit) => this.#callback(visit));
    routes.get(oidcRoutes.left, open, (visit) => this.#leaveAgain(visit));
    routes.post(oidcRoutes.connect, open, (visit) => this.#connect(visit));
    routes.post(oidcRoutes.disconnect, open, (visit) =>
      disconnect(visit, this.#realmFor(ownPath(visit.field('next'))), this.#options.settings),
    );
    // The provider sends it, not a page of ours.
    routes.post(oidcRoutes.backChannel, { ...open, proof: 'origin' }, (visit) => this.#backChannel(visit));
  }

  async #begin(visit: Visit<T>): Promise<FastifyReply> {
    const { next, prompt } = visit.request.query as { next?: unknown; prompt?: unknown };
    const path = typeof next === 'string' ? shortPath(next) : '/';
    const isQuiet = prompt === 'none';
    try {
      if (isQuiet && !(await this.#mayJoin(visit, path))) return visit.redirect(path);
      const url = await this.#attempt(visit, { next: path, isQuiet });
      return visit.reply.code(303).header('location', url).send();
    } catch (error) {
      return this.#fail(visit, error, path);
    }
  }

  /** True for a stranger here who has not signed out, while the provider answers: others stay as they are, without a wait. */
  async #mayJoin(visit: Visit<T>, next: string): Promise<boolean> {
    if (this.#left.read(visit.request) !== undefined) return false;
    return !(await this.#realmFor(next).signedIn(visit)) && (await this.provider.answers());
  }

  /** The page of a browser that has signed out here and not yet at the provider. It tries again, without a script too. */
  async #leaveAgain(visit: Visit<T>): Promise<string | FastifyReply> {
    const { realms, settings, title: service } = this.#options;
    const { signInPath } = realms.site;
    const idToken = this.#left.read(visit.request);
    if (typeof idToken !== 'string') return visit.redirect(signInPath);
    const url = await this.provider.signOutUrl(idToken, `${this.#addressOf(visit)}/`).catch(() => undefined);
    if (url !== undefined) return visit.reply.code(303).header('location', url).send();
    visit.reply.header('refresh', String(leaveAgainSeconds));
    const main = html`<p>${settings.name} does not answer, so you may still be signed in there. This page tries again every ${leaveAgainSeconds} seconds for an hour.</p>
<p><a href="${signInPath}">Sign in again</a></p>`;
    return standalone(
      { ...visit.frame(), service, navigation: [] },
      { title: 'You are signed out here', main },
    );
  }

  /** Connects by a form of ours, so that no other page can connect another person's account. */
  async #connect(visit: Visit<T>): Promise<FastifyReply> {
    const next = shortPath(visit.field('next'));
    const here = await this.#realmFor(next).signedIn(visit);
    if (!here) throw new AppError('unauthenticated', 'Sign in to connect your account.');
    return this.#go(visit, { next, connects: here.account }, 'Connecting');
  }

  /** Sends a signed-in user to the provider; back to the page if that does not answer. */
  async #go(visit: Visit<T>, kept: AttemptOptions, title: string): Promise<FastifyReply> {
    try {
      return this.#lead(visit, await this.#attempt(visit, kept), title);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
      return visit.redirect(kept.next, { tone: 'bad', text: error.message });
    }
  }

  async #attempt(visit: Visit<T>, kept: AttemptOptions): Promise<string> {
    const callback = `${this.#addressOf(visit)}${oidcRoutes.callback}`;
    const fresh = kept.connects !== undefined || this.#left.read(visit.request) !== undefined;
    const proves = kept.confirms !== undefined;
    const options = { fresh, proves, quiet: kept.isQuiet };
    const { url, state, attempt } = await this.provider.begin(callback, options);
    this.#attempts.keep(visit.reply, state, { ...attempt, ...kept, begunMs: this.#options.clock.now() });
    return url.href;
  }

  async #callback(visit: Visit<T>): Promise<FastifyReply> {
    const { request, reply } = visit;
    const { state: given, error } = request.query as { state?: unknown; error?: unknown };
    const state = typeof given === 'string' ? given : '';
    const attempt = this.#attempts.take(request, reply, state);
    const next = ownPath(attempt?.next ?? '/');
    try {
      if (!attempt)
        throw new AppError(
          'unauthenticated',
          'This sign-in was not started here, or it has expired. Start again.',
        );
      if (attempt.isQuiet && error !== undefined) return visit.redirect(next);
      const realm = this.#realmFor(next);
      if (!(await realm.people.useUp(state)))
        throw new AppError('unauthenticated', 'This sign-in was already completed. Start again.');
      const callback = new URL(`${this.#addressOf(visit)}${oidcRoutes.callback}`);
      callback.search = request.url.slice(request.url.indexOf('?'));
      const found = await this.provider.finish(callback, attempt);
      this.#left.clear(reply);
      if (attempt.connects !== undefined) return await this.#finishConnect(visit, attempt, found);
      if (attempt.confirms !== undefined) return await this.confirmations.finish(visit, attempt, found);
      const account = await realm.people.accountOf(found.person);
      const { key, expiresAtMs } = await realm.start(visit, account, found.person.amr);
      await realm.people.keepSession({ ...found, key, expiresAtMs });
      request.log.info(
        { event: 'authn_oidc_signed_in', subject: found.person.subject },
        'signed in by the provider',
      );
      return visit.redirect(next);
    } catch (failure) {
      const returns = attempt?.connects !== undefined || attempt?.confirms !== undefined;
      if (error === 'access_denied')
        return this.#fail(visit, new AppError('forbidden', 'You did not sign in.'), next, returns);
      return this.#fail(visit, failure, next, returns);
    }
  }

  async #finishConnect(
    visit: Visit<T>,
    { next, connects = '' }: KeptAttempt,
    { person }: Finished,
  ): Promise<FastifyReply> {
    const realm = this.#realmFor(next);
    const here = await realm.signedIn(visit);
    if (here?.account !== connects)
      throw new AppError('unauthenticated', 'You are not signed in as the account that you were connecting.');
    await realm.people.connect(person, connects);
    const text = `Your account is connected. You can sign in with ${this.#options.settings.name} from now on.`;
    return visit.redirect(next, { tone: 'good', text });
  }

  async #backChannel(visit: Visit<T>): Promise<FastifyReply> {
    const { request, reply } = visit;
    try {
      const { id, ...ended } = await this.tokens.endedBy(visit.field('logout_token'));
      const { site, admin } = this.#options.realms;
      if (!(await site.people.useUp(`logout ${id}`)))
        throw new AppError('unauthenticated', 'The token was used before.');
      await site.people.end(ended);
      await admin?.people.end(ended);
      request.log.info({ event: 'authn_oidc_logout', ...ended }, 'signed out by the provider');
      return reply.code(200).type('text/plain').send();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unauthenticated') throw error;
      request.log.warn({ event: 'authn_oidc_logout_refused', err: error.cause }, 'logout token refused');
      return reply
        .code(400)
        .type('application/json')
        .send({ error: 'invalid_request', error_description: error.message });
    }
  }

  #fail(visit: Visit<T>, error: unknown, next: string, returns = false): FastifyReply {
    if (!(error instanceof AppError) || error.code === 'internal') throw error;
    const { request } = visit;
    request.log.warn(
      { event: 'authn_oidc_refused', err: error.cause ?? error },
      'sign-in by the provider refused',
    );
    const signInPath = isOfAdmin(next) ? '/admin/login/' : this.#realmFor(next).signInPath;
    const target = returns ? next : `${signInPath}?next=${encodeURIComponent(next)}`;
    return visit.redirect(target, { tone: 'bad', text: error.message });
  }

  /** A page that opens another site. A form whose response leads there is stopped by our own policy (CSP `form-action`). */
  #lead(visit: Visit<T>, url: string, title: string): FastifyReply {
    const { settings, title: service } = this.#options;
    const frame = { ...visit.publicFrame(), service, navigation: [] };
    const text = `You go on to ${settings.name}.`;
    const page = standalone(frame, {
      title,
      main: html`<p>${text} <a href="${url}">Open it now</a> if nothing happens.</p>`,
    });
    return visit.reply.header('refresh', `0; url=${url}`).send(page);
  }

  #realmFor(next: string): SignInRealm<T> {
    const { site, admin = site } = this.#options.realms;
    return isOfAdmin(next) ? admin : site;
  }

  #addressOf(visit: Visit<T>): string {
    return this.#options.settings.address ?? visit.origin;
  }
}

type AttemptOptions = Pick<KeptAttempt, 'next' | 'connects' | 'confirms' | 'isQuiet'>;

/** An own path to open later, as a cookie can keep it. */
function shortPath(path: string): string {
  const own = ownPath(path);
  return JSON.stringify(own).length - 2 <= pathCharactersMax ? own : '/';
}

function isOfAdmin(path: string): boolean {
  return /^\/admin(\/|\?|$)/.test(path);
}

/** The path that begins a sign-in, and then leads to `next`. */
export function beginPath(next: string): string {
  return `${oidcRoutes.begin}?next=${encodeURIComponent(next)}`;
}
