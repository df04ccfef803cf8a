import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionCookie } from '../auth/session-cookie.ts';
import { AppError } from '../errors.ts';
import { FormFields } from '../http/body.ts';
import { newSecret } from '../ids.ts';
import type { Assets } from './assets.ts';
import { notice, type Tone } from './blocks.ts';
import type { Csrf } from './csrf.ts';
import type { Content } from './html.ts';
import type { Frame } from './layout.ts';
import { readTheme } from './theme.ts';

/** What a browser keeps for us between requests, encrypted. */
export interface Session<T> {
  /** What forms are bound to; a new one at each sign-in. */
  readonly id: string;
  /** Who is signed in; absent: nobody. */
  readonly who?: T | undefined;
  /** What to say on the next page. */
  readonly flash?: { readonly tone: Tone; readonly text: string } | undefined;
}

/** What the visits of a service share. */
export interface VisitOptions<T> {
  readonly cookie: SessionCookie<Session<T>>;
  readonly csrf: Csrf;
  readonly assets: Assets;
}

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

  /** Who is signed in, as the cookie says. */
  get who(): T | undefined {
    return this.#session?.who;
  }

  /** What CSRF tokens are bound to; made and sent along where the visitor has none yet. */
  get sessionId(): string {
    if (!this.#session) this.#keep({ id: newSecret(16) });
    return (this.#session as Session<T>).id;
  }

  /** Signs the visitor in under a new session, so that a session known before is of no use. */
  signIn(who: T): void {
    this.#keep({ id: newSecret(16), who });
  }

  /** Keeps the session, and so the tokens of forms in other tabs, with something new about who is signed in. */
  renew(who: T): void {
    this.#keep({ ...this.#session, id: this.sessionId, who });
  }

  signOut(): void {
    this.#session = undefined;
    this.#isChanged = true;
  }

  /** Sends the visitor to another of our pages by 303, with something to say there. */
  redirect(path: string, flash?: { tone: Tone; text: string }): FastifyReply {
    if (flash) this.leaveFlash(flash);
    return this.reply.code(303).header('location', ownPath(path)).send();
  }

  /** Has something to say on the next page, wherever the visitor goes. */
  leaveFlash(flash: { tone: Tone; text: string }): void {
    this.#keep({ ...this.#session, id: this.sessionId, flash });
  }

  /** The message left by the request before, once. */
  takeFlash(): Content {
    const flash = this.#session?.flash;
    if (!flash) return undefined;
    this.#keep({ ...(this.#session as Session<T>), flash: undefined });
    return notice(flash.tone, flash.text);
  }

  /** A field of the form that was sent, with the newlines of a browser (CRLF) as plain ones; absent ones are empty. */
  field(name: string): string {
    return this.fields()[name] ?? '';
  }

  /** All fields of the form that was sent; of one that is there twice the last. */
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
  frame(): Pick<Frame, 'path' | 'theme' | 'assets' | 'csrfField' | 'isFailure'> {
    const { csrf, assets } = this.#options;
    return {
      path: this.request.url,
      theme: readTheme(this.request),
      assets,
      csrfField: csrf.field(this.sessionId),
      isFailure: this.reply.statusCode >= 400,
    };
  }

  /** True where the browser sent a session of ours. */
  get hasSession(): boolean {
    return this.#session !== undefined;
  }

  /** Throws `forbidden` where the token is not this visitor's, `unauthenticated` where there is no session any more. */
  checkToken(token: unknown): void {
    if (!this.#session) {
      throw new AppError('unauthenticated', 'Your session has ended.', { reason: 'SESSION_ENDED' });
    }
    this.#options.csrf.check(token, this.#session.id);
  }

  /** Sends the session along where it changed; `servePages` calls it before each response. */
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

/** The path itself where it leads to a page of ours, else `/`: a link from outside must not send readers elsewhere. */
export function ownPath(path: string): string {
  return /^\/(?![/\\])[^\\\s]*$/.test(path) ? path : '/';
}
