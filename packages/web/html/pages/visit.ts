import type { Suite } from '@octavo/core';
import { AppError, newSecret } from '@octavo/core';
import type { SessionCookie } from '@octavo/core/auth';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FormFields } from '../../http/requests/body.ts';
import { clientAddress } from '../../http/requests/client-address.ts';
import { notice, type Tone } from '../components/blocks.ts';
import { type Content, html } from '../html.ts';
import type { Frame } from '../layout.ts';
import { readTheme } from '../theme.ts';
import type { Assets } from './assets.ts';
import type { Csrf } from './csrf.ts';

/** The contents of the encrypted session cookie. */
export interface Session<T> {
  /** Forms are bound to it; each sign-in creates a new one. */
  readonly id: string;
  /** The signed-in user; absent for strangers. */
  readonly who?: T | undefined;
  /** A message for the next page. */
  readonly flash?: Flash | undefined;
}

/** A message for the next page. */
export interface Flash {
  readonly tone: Tone;
  readonly text: string;
  /** A button that posts one field to one of our addresses, such as an undo. */
  readonly button?: {
    readonly label: string;
    readonly action: string;
    readonly name: string;
    readonly value: string;
  };
}

/** Options shared by all visits of a service. */
export interface VisitOptions<T> {
  readonly cookie: SessionCookie<Session<T>>;
  readonly csrf: Csrf;
  readonly assets: Assets;
  /** The services that a visitor can go to from here. */
  readonly suite: Suite | undefined;
  /** The public address of the service; that of each request if undefined. */
  readonly publicUrl?: string | undefined;
}

type VisitFrame = Pick<
  Frame,
  'origin' | 'path' | 'theme' | 'assets' | 'suite' | 'isSignedIn' | 'csrfField' | 'isFailure'
>;

/** One request for a page, by one visitor. */
export class Visit<T> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly #options: VisitOptions<T>;
  #session: Session<T> | undefined;
  #isChanged = false;

  constructor(request: FastifyRequest, reply: FastifyReply, options: VisitOptions<T>) {
    this.request = request;
    this.reply = reply;
    this.#options = options;
    this.#session = options.cookie.read(request);
  }

  /** The signed-in user, according to the cookie. */
  get who(): T | undefined {
    return this.#session?.who;
  }

  /** The id that CSRF tokens are bound to. If the visitor has none yet, it is created and sent. */
  get sessionId(): string {
    if (!this.#session) this.#keep({ id: newSecret(16) });
    return (this.#session as Session<T>).id;
  }

  /** Signs the visitor in under a new session, so that an id that was known before is useless. */
  signIn(who: T): void {
    this.#keep({ id: newSecret(16), who });
  }

  /** Changes who is signed in but keeps the session, so that forms in other tabs stay valid. */
  renew(who: T): void {
    this.#keep({ ...this.#session, id: this.sessionId, who });
  }

  signOut(): void {
    this.#session = undefined;
    this.#isChanged = true;
  }

  /** Redirects the visitor to another of our pages with 303, and shows a message there. */
  redirect(path: string, flash?: Flash): FastifyReply {
    if (flash) this.leaveFlash(flash);
    return this.reply.code(303).header('location', ownPath(path)).send();
  }

  /** Shows a message on the next page, whichever it is. */
  leaveFlash(flash: Flash): void {
    this.#keep({ ...this.#session, id: this.sessionId, flash });
  }

  /** The message from the previous request; returned once. */
  takeFlash(): Content {
    const flash = this.#session?.flash;
    if (!flash) return undefined;
    this.#keep({ ...(this.#session as Session<T>), flash: undefined });
    const { tone, text, button } = flash;
    if (!button) return notice(tone, text);
    const { label, action, name, value } = button;
    const csrfField = this.#options.csrf.field(this.sessionId);
    return notice(
      tone,
      html`<form method="post" action="${action}" class="actions">${csrfField}<input type="hidden" name="${name}" value="${value}">
<span>${text}</span><button class="secondary">${label}</button></form>`,
    );
  }

  /** The address of the client; see {@link clientAddress}. */
  get clientAddress(): string {
    return clientAddress(this.request);
  }

  /** The public address of the service without a path, such as `https://library.example`. */
  get origin(): string {
    const { protocol, host } = this.request;
    return this.#options.publicUrl?.replace(/\/$/, '') ?? `${protocol}://${host}`;
  }

  /** A field of the submitted form, with CRLF as plain newlines; empty if it is absent. */
  field(name: string): string {
    return this.fields()[name] ?? '';
  }

  /** All values of a field of the submitted form, which may be repeated. */
  values(name: string): readonly string[] {
    const { body } = this.request;
    const given = body instanceof FormFields ? body.values[name] : undefined;
    return given === undefined ? [] : [given].flat();
  }

  /** All fields of the submitted form. If a name is repeated, the last value counts. */
  fields(): Readonly<Record<string, string | undefined>> {
    const { body } = this.request;
    if (!(body instanceof FormFields)) return {};
    const entries = Object.entries(body.values).map(([name, given]) => {
      const text = Array.isArray(given) ? (given.at(-1) ?? '') : given;
      return [name, text.replace(/\r\n?/g, '\n')] as const;
    });
    return Object.fromEntries(entries);
  }

  /** The parts of a layout's frame that are the same on every page. */
  frame(): VisitFrame {
    return { ...this.publicFrame(), csrfField: this.#options.csrf.field(this.sessionId) };
  }

  /**
   * Returns the frame without a form token, for a page that is the same for all strangers: it starts no session and sets no
   * cookie. Forms on such a page need `proof: 'origin'`.
   */
  publicFrame(): VisitFrame {
    return {
      origin: this.origin,
      path: this.request.url,
      theme: readTheme(this.request),
      assets: this.#options.assets,
      suite: this.#options.suite,
      isSignedIn: this.who !== undefined,
      csrfField: html``,
      isFailure: this.reply.statusCode >= 400,
    };
  }

  /** True if the next page has a message to show. */
  get hasFlash(): boolean {
    return this.#session?.flash !== undefined;
  }

  /** True if the browser sent one of our sessions. */
  get hasSession(): boolean {
    return this.#session !== undefined;
  }

  /** Throws `forbidden` if the token is not this visitor's, and `unauthenticated` if the session has ended. */
  checkToken(token: unknown): void {
    if (!this.#session) {
      throw new AppError('unauthenticated', 'Your session has ended.', { reason: 'SESSION_ENDED' });
    }
    this.#options.csrf.check(token, this.#session.id);
  }

  /** Sends the session if it changed; `servePages` calls it before each response. */
  commit(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    if (this.#session) this.#options.cookie.write(this.reply, this.#session);
    else this.#options.cookie.clear(this.reply);
  }

  #keep(session: Session<T>): void {
    this.#session = session;
    this.#isChanged = true;
  }
}

/**
 * The path if it leads to a page of ours, else `/`, so that a link from outside cannot redirect readers to another site. What is not
 * ASCII is percent-encoded, because a header cannot hold it.
 */
export function ownPath(path: string): string {
  const isOwn = /^\/(?![/\\])[^\\\s\p{Cc}]*$/u.test(path);
  return isOwn ? path.toWellFormed().replace(/[^!-~]+/g, encodeURIComponent) : '/';
}
