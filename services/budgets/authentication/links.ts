import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { AppError, newId } from '@octavo/core';
import type { WriteSession } from '@octavo/data';
import type { MailedLinkRow, Tables } from '../store/tables.ts';
import { countRecentLinks, insertLink, takeLink } from './store.ts';

export type LinkKind = MailedLinkRow['kind'];

export const linkMs: Readonly<Record<LinkKind, number>> = { verify: 24 * 3_600_000, reset: 30 * 60_000 };

const perHourMax = 5;
const hourMs = 3_600_000;

/** The tokens in links that are mailed: an id and its HMAC, so that the database never holds a token that works. */
export class LinkTokens {
  readonly #key: string;

  constructor(secret: string) {
    this.#key = createHmac('sha256', secret).update('links in mails').digest('base64url');
  }

  /** The token of a link. */
  of(id: string): string {
    return `${id}.${this.#macOf(id)}`;
  }

  /** The id in a token that is ours. */
  idOf(token: string): string | undefined {
    const [id = '', mac = ''] = token.split('.');
    const [given, expected] = [Buffer.from(mac), Buffer.from(this.#macOf(id))];
    return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined;
  }

  #macOf(id: string): string {
    return createHmac('sha256', this.#key).update(id).digest('base64url');
  }
}

/** Adds a link in the caller's transaction and returns its id; undefined if the account had five of the kind within an hour. */
export async function addLink(
  session: WriteSession<Tables>,
  { owner, email, kind }: { owner: number; email: string; kind: LinkKind },
  clock: Clock,
): Promise<string | undefined> {
  // Links that are asked for at the same time are counted one after another.
  await session.lock(`links of account ${owner}`);
  const nowMs = clock.now();
  const recent = await countRecentLinks(session, { owner, kind, sinceMs: nowMs - hourMs });
  if ((recent?.links ?? 0) >= perHourMax) return undefined;
  const id = newId();
  await insertLink(session, {
    id,
    owner,
    email,
    kind,
    created_at_ms: nowMs,
    expires_at_ms: nowMs + linkMs[kind],
  });
  return id;
}

/** Uses a link up, and returns whose it is. Throws `validation_failed` if it is not valid. */
export async function useLink(
  session: WriteSession<Tables>,
  tokens: LinkTokens,
  { token, kind, nowMs }: { token: string; kind: LinkKind; nowMs: number },
): Promise<{ owner: number; email: string }> {
  const id = tokens.idOf(token);
  const taken = id && (await takeLink(session, { id, kind, nowMs }));
  if (!taken) throw invalidLink();
  return taken;
}

export function invalidLink(): AppError {
  return new AppError('validation_failed', 'This link is invalid, was used, or has expired.', {
    fields: { token: 'is invalid, was used, or has expired' },
  });
}
