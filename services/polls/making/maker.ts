import { createHash, createHmac, hkdfSync } from 'node:crypto';
import type { AccountSession, Author } from '@octavo/admin';
import type { Clock } from '@octavo/core';
import { createSessionCookie, type SessionCookie } from '@octavo/core/auth';
import type { Accounts, User } from '@octavo/people/accounts';
import type { Visit } from '@octavo/web/pages';
import { pageRoutes } from '../routes.ts';
import type { Draft } from './draft.ts';

/** A visit of the pages, perhaps signed in. */
type PageVisit = Visit<AccountSession>;

/** A visitor who may make polls, or manage one: an account, or a stranger. */
export interface Maker {
  readonly visit: PageVisit;
  readonly user: User | undefined;
}

/** The access of the pages of makers: everybody, with who they are. */
export function makersOf(accounts: Accounts): (visit: PageVisit) => Promise<Maker> {
  return async (visit) => ({ visit, user: visit.who && (await accounts.sessions.userOf(visit.who.token)) });
}

/** The sign-in page, which leads back. */
export function signInPath(next: string): string {
  return `/admin/login/?next=${encodeURIComponent(next)}`;
}

/** The author of a change for the history in the admin. */
export function authorOf({ user }: Pick<Maker, 'user'>, nowMs: number): Author {
  return { user: user && { id: String(user.id), name: user.username }, nowMs, via: 'page' };
}

interface Made {
  readonly question: number;
  readonly token: string;
}

/** Tokens with which strangers manage their polls. The database has only their hashes. */
export class ManageTokens {
  readonly #key: Buffer;
  readonly #cookie: SessionCookie<Made>;

  /** @param secret keys the tokens and encrypts a cookie */
  constructor({ secret, clock }: { secret: string; clock: Clock }) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'polls manage', 32));
    this.#cookie = createSessionCookie({
      name: 'polls_made',
      secret,
      clock,
      maxAgeSeconds: 600,
      sameSite: 'lax',
    });
  }

  /**
   * The token of a form that a browser got and what was typed into it. Both the form and the session have a random part, so no other client
   * can guess it, and the same form that is sent twice makes one poll.
   */
  tokenOf(visit: PageVisit, form: string, { question_text, choices }: Draft): string {
    const parts = JSON.stringify([visit.sessionId, form, question_text, choices]);
    return createHmac('sha256', this.#key).update(parts).digest('base64url');
  }

  hashOf(token: string): string {
    return createHash('sha256').update(token).digest('base64url');
  }

  /** Keeps a token for the next page of the poll. */
  keep({ reply }: PageVisit, made: Made): void {
    this.#cookie.write(reply, made);
  }

  /** The address to manage a poll that was just made in this browser; returned once. */
  takeAddress({ request, reply, origin }: PageVisit, question: number): string | undefined {
    const made = this.#cookie.read(request);
    if (made?.question !== question) return undefined;
    this.#cookie.clear(reply);
    return `${origin}${managePath(made.token)}`;
  }
}

export function managePath(token: string): string {
  return pageRoutes.manage.replace(':token', token);
}
