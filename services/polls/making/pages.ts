import type { AccountSession } from '@octavo/admin';
import { AppError, type Fields, newSecret } from '@octavo/core';
import { dateTimeOf } from '@octavo/core/text';
import type { SharedLimits } from '@octavo/data/limits';
import type { Accounts } from '@octavo/people/accounts';
import type { Content } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { isFromElsewhere } from '@octavo/web/pages';
import type { HttpError } from '@octavo/web/server';
import { limitSharedRequests } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import type { PageVisit } from '../pages-poll.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { type Draft, DraftError, emptyForm, parseDraft, readTyped, type Typed } from './draft.ts';
import { authorOf, type Maker, makersOf, signInPath } from './maker.ts';
import { addManagePages, type ManageOptions, textsAgain } from './pages-manage.ts';
import { newPollPage, signInFirst } from './pages-views.ts';
import { createPoll, findMade } from './store.ts';

export interface MakingOptions extends ManageOptions {
  readonly accounts: Accounts;
  /** True if strangers may make polls. */
  readonly isOpen: boolean;
  /** Polls made in an hour by one account, and by strangers of one address; 0 means no limit. */
  readonly sharedLimits: SharedLimits;
  readonly limits: { readonly account: number; readonly address: number };
}

interface Parts extends MakingOptions {
  readonly limitMade: (maker: Maker) => Promise<void>;
}

/** Adds the pages where people make polls and manage their own. */
export function addMakingPages(routes: PageRoutes<AccountSession>, options: MakingOptions): void {
  const access = makersOf(options.accounts);
  const parts = { ...options, limitMade: createLimits(options) };
  routes.get(pageRoutes.newPoll, { access }, async (maker) => {
    if (!mayMake(maker, parts)) return maker.visit.redirect(signInPath(pageRoutes.newPoll));
    return newPollPage(maker, { typed: emptyForm(), form: newSecret(), errors: {} });
  });
  routes.post(pageRoutes.newPoll, { access }, (maker) => make(maker, parts));
  addManagePages(routes, options, access);
}

/**
 * The form for a new poll, or for the texts of one, with what was typed into it, if it was refused because the session has ended, or a new
 * one has begun in another tab. Undefined for other requests.
 */
export async function formAgain(
  visit: PageVisit,
  { status }: HttpError,
  options: MakingOptions,
): Promise<string | undefined> {
  const { request } = visit;
  if (request.method !== 'POST' || isFromElsewhere(request) || (status !== 401 && status !== 403))
    return undefined;
  const maker = await makersOf(options.accounts)(visit);
  const problem = maker.user ? 'Your sign-in has changed. Check the form and send it again.' : undefined;
  if (request.routeOptions.url !== pageRoutes.newPoll) return textsAgain(maker, options, problem);
  return typedAgain(maker, problem ?? signInFirst(pageRoutes.newPoll));
}

function typedAgain(maker: Maker, problem: Content): string {
  const { visit } = maker;
  return newPollPage(maker, {
    typed: readTyped(visit.fields()),
    form: visit.field('form') || newSecret(),
    errors: {},
    problem,
  });
}

function mayMake({ user }: Maker, { isOpen }: MakingOptions): boolean {
  return isOpen || user !== undefined;
}

async function make(maker: Maker, parts: Parts): Promise<string | FastifyReply> {
  const { visit } = maker;
  if (!mayMake(maker, parts)) {
    visit.reply.code(401);
    return typedAgain(maker, signInFirst(pageRoutes.newPoll));
  }
  const hasMore = visit.field('more') !== '';
  const typed = readTyped(visit.fields(), hasMore);
  const form = visit.field('form') || newSecret();
  const again = (errors: Fields, problem?: string) =>
    newPollPage(maker, { typed, form, errors, ...(problem && { problem }) });
  if (hasMore) return again({});
  try {
    const now = dateTimeOf(parts.clock.now());
    return await save(maker, parts, { draft: await parseDraft(typed, now), form, now });
  } catch (error) {
    if (error instanceof DraftError) {
      visit.reply.code(400);
      return again(error.fields);
    }
    if (!(error instanceof AppError) || error.code !== 'rate_limited') throw error;
    visit.reply.code(429).header('retry-after', String(Math.ceil(error.retryAfterSeconds ?? 1)));
    return again({}, tooMany(typed));
  }
}

async function save(
  maker: Maker,
  parts: Parts,
  { draft, form, now }: { draft: Draft; form: string; now: string },
): Promise<FastifyReply> {
  const { visit, user } = maker;
  const { tokens, clock, database } = parts;
  const token = tokens.tokenOf(visit, form, draft);
  const hash = tokens.hashOf(token);
  const known = await findMade(database, hash);
  if (known === undefined) await parts.limitMade(maker);
  // What strangers make is on no list until staff say so.
  const shown: Draft = user ? draft : { ...draft, visibility: 'link' };
  const author = authorOf(maker, clock.now());
  const id = known ?? (await createPoll(parts, shown, { owner: user?.id, hash, now, author }));
  if (!user) tokens.keep(visit, { question: id, token });
  const path = pathOf(user ? pageRoutes.mineOne : pageRoutes.poll, id);
  return visit.redirect(path, { tone: 'good', text: 'Your poll is ready. Share its link.' });
}

function tooMany({ lines }: Typed): string {
  const kept = lines.some((line) => line !== '') ? ' What you typed is still here.' : '';
  return `You have made too many polls in the last hour. Try again later.${kept}`;
}

/** Counts a poll for the account, or for the address of a stranger. */
function createLimits({ limits, sharedLimits, clock }: MakingOptions): Parts['limitMade'] {
  const limitOf = (name: string, requestsMax: number) =>
    limitSharedRequests({ shared: sharedLimits.named(name, requestsMax, 3_600_000) }, clock);
  const [byAccount, byAddress] = [
    limitOf('made-by-account', limits.account),
    limitOf('made-by-address', limits.address),
  ];
  return async ({ visit, user }) => {
    const { request, reply } = visit;
    if (user) await byAccount(request, reply, `account ${user.id}`);
    else await byAddress(request, reply);
  };
}
