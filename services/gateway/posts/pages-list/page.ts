import type { Fields } from '@octavo/core';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import {
  type Content,
  count,
  empty,
  type Frame,
  type Html,
  html,
  icon,
  layout,
  linkButton,
  menu,
  notice,
  pager,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { PageSession, Visitor, Visitors } from '../../access/index.ts';
import { link, pageRoutes } from '../../routes.ts';
import { type SentimentName, sentimentsOf } from '../../sentiment/index.ts';
import type { Integrations } from '../../status/index.ts';
import { noSuchUser, type Usernames } from '../../users/index.ts';
import { filterParameters, isFiltered } from '../filter.ts';
import { type PostPage, toListRequest, toPostPage } from '../listing.ts';
import { listFilters, parameterLabel } from './filters.ts';
import { createQueryReader, hrefOf, type PageQuery } from './query.ts';
import { postTable } from './table.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly integrations: Integrations;
  readonly usernames: Usernames;
}

const pageSizes = [20, 50, 100];

/** The list of posts: the front page. */
export function addListPage(
  routes: PageRoutes<PageSession>,
  { visitors, posts, integrations, usernames }: Parts,
): void {
  const readQuery = createQueryReader();
  routes.get(
    pageRoutes.posts,
    { access: visitors('post', 'read') },
    async ({ visit, caller, may, call, frame }) => {
      const [given, hasSentiments, choices] = await Promise.all([
        withUserId(visit.request.query as Parameters, (name) => usernames.uidOf(name, call)),
        integrations.isEnabled('inferenceServer'),
        usernames.choices(call),
      ]);
      const { query, filter, ...unread } = readQuery(given.parameters, { hasSentiments });
      const ignored = { ...given.ignored, ...unread.ignored };
      const listed = await posts.listPosts(toListRequest(filter, query), call);
      const found = toPostPage(listed, query);
      const uids = found.posts.map(({ userId }) => userId);
      const ids = found.posts.map(({ id }) => id);
      const [names, sentiments] = await Promise.all([
        usernames.of(query.userId === undefined ? uids : [query.userId, ...uids], call),
        hasSentiments ? sentimentsOf(posts, ids, call) : undefined,
      ]);
      const view = { query, found, names, choices, uid: caller.uid, may, ignored, hasSentiments, sentiments };
      return listPage(frame(), view);
    },
  );
}

type Parameters = Readonly<Record<string, unknown>>;

/** The parameters of the list with the number of a user in place of a name. An unknown name is ignored. */
async function withUserId(
  parameters: Parameters,
  uidOf: (name: string) => Promise<number | undefined>,
): Promise<{ parameters: Parameters; ignored: Fields }> {
  const { userId, ...others } = parameters;
  const name = typeof userId === 'string' ? userId.trim() : '';
  if (name === '' || /^\d+$/.test(name)) return { parameters, ignored: {} };
  const uid = await uidOf(name);
  return uid === undefined
    ? { parameters: others, ignored: { userId: noSuchUser } }
    : { parameters: { ...others, userId: String(uid) }, ignored: {} };
}

interface ListView {
  readonly query: PageQuery;
  readonly found: PostPage;
  readonly names: ReadonlyMap<number, string>;
  /** Names of users to filter by. */
  readonly choices: readonly string[];
  readonly uid: number;
  readonly may: Visitor['may'];
  /** The parameters of the address that were ignored, and why. */
  readonly ignored: Fields;
  /** True if posts are classified. */
  readonly hasSentiments: boolean;
  /** Sentiments by id of the post; absent if posts are not classified. */
  readonly sentiments: ReadonlyMap<number, SentimentName> | undefined;
}

function listPage(frame: Frame, view: ListView): string {
  const { query, found, may, names, choices, ignored, hasSentiments } = view;
  const users = { name: query.userId === undefined ? undefined : names.get(query.userId), choices };
  const { totalItems } = found.pagination;
  const hasList = totalItems > 0 || isFiltered(query);
  return layout(frame, {
    title: 'Posts',
    lead: isFiltered(query) ? `${count(totalItems, 'post')} found` : count(totalItems, 'post'),
    actions: html`${may.export && totalItems > 0 && exportMenu(query)}${may.write && hasList && writeButtons()}`,
    modules: ['select.js'],
    main: html`${ignoredNotice(ignored)}${hasList && listFilters(query, { hasSentiments, users })}
${found.posts.length > 0 ? postTable({ ...view, posts: found.posts }) : nothing(view)}
${pager({
  ...found.pagination,
  total: totalItems,
  href: (page) => hrefOf(query, { page }),
  sizes: { choices: pageSizes, href: (pageSize) => hrefOf(query, { pageSize, page: 1 }) },
})}${may.write && html`<p class="after small"><a href="${pageRoutes.deletedPosts}">Deleted posts</a></p>`}`,
  });
}

function ignoredNotice(ignored: Fields): Content {
  const problems = Object.entries(ignored).map(([name, problem]) => `${parameterLabel(name)} ${problem}`);
  if (problems.length === 0) return undefined;
  return notice('warn', `${problems.join('; ')}.`, { title: 'Some filters were ignored' });
}

function writeButtons(): Html {
  return html`${linkButton(pageRoutes.importPosts, 'Import')}${linkButton(pageRoutes.newPost, html`${icon('plus')}New post`, 'primary')}`;
}

function exportMenu(query: PageQuery): Html {
  const href = (format: string) => link(pageRoutes.exportPosts, { ...filterParameters(query), format });
  return menu(isFiltered(query) ? 'Export these' : 'Export', [
    { href: href('json'), label: 'As JSON', download: true },
    { href: href('csv'), label: 'As CSV for spreadsheets', download: true },
  ]);
}

function nothing({ query, found, may }: ListView): Html {
  const { totalItems, totalPages } = found.pagination;
  if (totalItems > 0) {
    return empty({
      icon: 'list',
      title: 'This page is past the end',
      text: `There are ${count(totalItems, 'post')}.`,
      actions: linkButton(hrefOf(query, { page: totalPages }), 'Go to the last page'),
    });
  }
  if (isFiltered(query)) {
    return empty({
      icon: 'search',
      title: 'No matching posts',
      text: 'The search finds your text anywhere in the title or the body, in upper or lower case. Try a shorter text, other days or another user.',
      actions: linkButton(pageRoutes.posts, 'Clear the filters'),
    });
  }
  return empty({
    icon: 'inbox',
    title: 'No posts yet',
    text: may.write
      ? 'A post has a title and a body. Write the first one, or import a CSV or JSON file.'
      : 'Posts appear here as soon as an author writes one.',
    actions: may.write ? writeButtons() : undefined,
  });
}
