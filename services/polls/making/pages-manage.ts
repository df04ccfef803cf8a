import type { AccountSession } from '@octavo/admin';
import type { Clock } from '@octavo/core';
import { AppError, type Fields } from '@octavo/core';
import { dateTimeOf } from '@octavo/core/text';
import { pageNumber } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { FastifyReply } from 'fastify';
import type { PageVisit } from '../pages-poll.ts';
import { isClosedAt, type Poll, type Question } from '../poll.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { DraftError, lineName, parseTexts, readTyped, type Typed, textsOf } from './draft.ts';
import { authorOf, type Maker, type ManageTokens, managePath, signInPath } from './maker.ts';
import { deletePage, managePage, minePage, textsPage } from './pages-views.ts';
import {
  changePoll,
  changeTexts,
  deletePoll,
  findManaged,
  type ManageKey,
  noPoll,
  ownPolls,
  type Writing,
} from './store.ts';

export interface ManageOptions extends Writing {
  readonly clock: Clock;
  readonly tokens: ManageTokens;
}

type Answer = Promise<string | FastifyReply>;

/** Way to a poll for its manager: its key and its address. */
interface Way {
  readonly key: ManageKey;
  readonly path: string;
}

/** Adds the list of own polls, and the pages of one of them: by account, and by the token of a stranger. */
export function addManagePages(
  routes: PageRoutes<AccountSession>,
  options: ManageOptions,
  access: (visit: PageVisit) => Promise<Maker>,
): void {
  const { clock, database } = options;
  routes.get(pageRoutes.mine, { access }, async (maker) => {
    const { visit, user } = maker;
    if (!user) return visit.redirect(signInPath(pageRoutes.mine));
    const found = await ownPolls(database, user.id, pageNumber(visit.request.query));
    return minePage(maker, found, dateTimeOf(clock.now()));
  });
  const ways = [
    { route: pageRoutes.mineOne, wayOf: ownWay },
    { route: pageRoutes.manage, wayOf: (maker: Maker) => tokenWay(maker, options) },
  ];
  for (const { route, wayOf } of ways) {
    const on =
      (act: (maker: Maker, way: Way) => Answer) =>
      async (maker: Maker): Answer => {
        const way = wayOf(maker);
        const { request, reply } = maker.visit;
        reply.header('x-robots-tag', 'noindex');
        if (way) return act(maker, way);
        if (hasTexts(maker)) throw new AppError('unauthenticated', 'Your session has ended.');
        return maker.visit.redirect(signInPath(request.url));
      };
    const show = (maker: Maker, way: Way) => manage(maker, options, way);
    routes.get(route, { access }, on(show));
    routes.post(
      route,
      { access },
      on((maker, way) => apply(maker, options, way)),
    );
    routes.get(
      `${route}delete/`,
      { access },
      on(async (maker, way) => deletePage(maker, await findManaged(database, way.key), way.path)),
    );
    routes.post(
      `${route}delete/`,
      { access },
      on((maker, way) => remove(maker, options, way)),
    );
  }
}

/**
 * The form for the texts of a poll with what was typed into it. Undefined for other forms.
 * @param problem reason to send the form again; undefined for a visitor who has to sign in first
 */
export async function textsAgain(
  maker: Maker,
  options: ManageOptions,
  problem: string | undefined,
): Promise<string | undefined> {
  const { visit } = maker;
  const { url: path, routeOptions } = visit.request;
  if (!hasTexts(maker)) return undefined;
  const texts = readTyped(visit.fields());
  const isByToken = routeOptions.url === pageRoutes.manage;
  if (!isByToken && routeOptions.url !== pageRoutes.mineOne) return undefined;
  const way = isByToken ? tokenWay(maker, options) : ownWay(maker);
  if (!way) return textsPage(maker, { texts, path, shown: visit.field('choices') });
  const again = problem ?? 'Your session has ended. Send the form again.';
  return manage(maker, options, way, { texts, problem: again });
}

/** True for the form of the texts, which has what the visitor typed. */
function hasTexts({ visit }: Maker): boolean {
  return ['texts', 'more'].includes(visit.field('deed'));
}

/** Undefined for a stranger. Throws `not_found` for a malformed id. */
function ownWay({ visit, user }: Maker): Way | undefined {
  const { id = '' } = visit.request.params as { id?: string };
  if (!user) return undefined;
  if (!/^\d{1,9}$/.test(id)) throw noPoll();
  return { key: { id: Number(id), owner: user.id }, path: pathOf(pageRoutes.mineOne, Number(id)) };
}

function tokenWay({ visit }: Maker, { tokens }: ManageOptions): Way {
  const { token = '' } = visit.request.params as { token?: string };
  if (!/^[\w-]{43}$/.test(token)) throw noPoll();
  return { key: { hash: tokens.hashOf(token) }, path: managePath(token) };
}

async function manage(
  maker: Maker,
  { database, clock }: ManageOptions,
  { key, path }: Way,
  sent: { poll?: Poll; texts?: Typed; errors?: Fields; problem?: string } = {},
): Promise<string> {
  const { errors = {}, problem, poll = await findManaged(database, key), texts = textsOf(poll) } = sent;
  return managePage(maker, { poll, texts, path, now: dateTimeOf(clock.now()), errors, problem });
}

/** Runs the action of the pressed button. */
async function apply(maker: Maker, options: ManageOptions, way: Way): Answer {
  const { visit, user } = maker;
  const { database, clock } = options;
  const deed = visit.field('deed');
  const now = dateTimeOf(clock.now());
  const author = authorOf(maker, clock.now());
  const done = (text: string) => visit.redirect(way.path, { tone: 'good', text });
  if (hasTexts(maker)) return saveTexts(maker, options, way);
  const { question } = await findManaged(database, way.key);
  if (deed === 'close') {
    if (!isClosedAt(question, now)) await changePoll(options, way.key, { closes_at: now, author });
    return done('The poll is closed.');
  }
  const visibility = visibilities(user !== undefined)[deed];
  if (!visibility) throw new AppError('invalid_input', 'This action does not exist.');
  await changePoll(options, way.key, { visibility, author });
  return done(visibility === 'hidden' ? 'The poll is hidden.' : 'The poll is visible again.');
}

/** The visibility after each button. Only accounts put polls on the list. */
function visibilities(isAccount: boolean): Readonly<Record<string, Question['visibility'] | undefined>> {
  return { hide: 'hidden', show: 'link', ...(isAccount && { list: 'listed' }) };
}

async function saveTexts(maker: Maker, options: ManageOptions, way: Way): Answer {
  const { visit } = maker;
  const hasMore = visit.field('deed') === 'more';
  const found = await findManaged(options.database, way.key);
  const { question, choices } = found;
  const sent = visit.fields();
  const typed = readTyped(sent, hasMore);
  // A line that the form did not send stays as it is.
  const lines = [
    ...choices.map(({ choice_text }, index) => sent[lineName(index + 1)] ?? choice_text),
    ...typed.lines.slice(choices.length),
  ];
  const texts = { ...typed, lines };
  if (hasMore) return manage(maker, options, way, { poll: found, texts });
  try {
    const author = authorOf(maker, options.clock.now());
    const shown = visit.field('choices');
    await changeTexts(options, way.key, { ...(await parseTexts(texts, question)), shown, author });
  } catch (error) {
    if (error instanceof DraftError) {
      visit.reply.code(400);
      return manage(maker, options, way, { poll: found, texts, errors: error.fields });
    }
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    visit.reply.code(409);
    return manage(maker, options, way, { problem: error.message });
  }
  return visit.redirect(way.path, { tone: 'good', text: 'The poll was saved.' });
}

async function remove(maker: Maker, options: ManageOptions, { key }: Way): Answer {
  await deletePoll(options, key, authorOf(maker, options.clock.now()));
  const next = maker.user ? pageRoutes.mine : pageRoutes.polls;
  return maker.visit.redirect(next, { tone: 'good', text: 'The poll is deleted.' });
}
