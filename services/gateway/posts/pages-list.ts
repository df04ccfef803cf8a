import { AppError, type Fields } from '#kit/errors.ts';
import { empty, linkButton, menu, notice } from '#kit/html/blocks.ts';
import { field } from '#kit/html/form.ts';
import { count, time } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { icon } from '#kit/html/icons.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { pager } from '#kit/html/pager.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { type Column, table } from '#kit/html/table.ts';
import { compileTextValidator } from '#kit/http/validation/text-parameters.ts';
import type { Validation } from '#kit/http/validation/validator.ts';
import type { Client } from '#kit/rpc/index.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import type { PageSession, Visitor, Visitors } from '../access/index.ts';
import { link, pageRoutes, postPath } from '../routes.ts';
import type { Usernames } from '../users/index.ts';
import { ListQuery, type PostPage, toFilter, toListRequest, toPostPage } from './listing.ts';
import type { Post } from './post.ts';

type Parameters = Readonly<Record<string, unknown>>;
type ParseQuery = (parameters: Parameters) => Validation<ListQuery>;

/** The list of posts: the front page. */
export function addListPage(
  routes: PageRoutes<PageSession>,
  {
    visitors,
    posts,
    usernames,
  }: { visitors: Visitors; posts: Client<PostServiceDefinition>; usernames: Usernames },
): void {
  const parseQuery = compileTextValidator(ListQuery) as ParseQuery;
  routes.get(
    pageRoutes.posts,
    { access: visitors('post', 'read') },
    async ({ visit, caller, may, call, frame }) => {
      const { query, ignored } = usableQuery(visit.request.query as Parameters, parseQuery);
      const found = toPostPage(await posts.listPosts(toListRequest(query), call), query);
      const uids = found.posts.map(({ userId }) => userId);
      const names = await usernames.of(uids, call);
      return listPage(frame(), { query, found, names, uid: caller.uid, may, ignored });
    },
  );
}

/** The query without the parameters that are invalid, because a list and a warning are better than no list. */
function usableQuery(parameters: Parameters, parseQuery: ParseQuery): { query: ListQuery; ignored: Fields } {
  // A form sends its empty fields too.
  const given = Object.fromEntries(Object.entries(parameters).filter(([, text]) => text !== ''));
  try {
    const parsed = parseQuery(given);
    if (parsed.fields) throw new AppError('invalid_input', 'query', { fields: parsed.fields });
    return { query: { ...parsed.value, ...toFilter(parsed.value) }, ignored: {} };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const usable = Object.entries(given).filter(([name]) => !Object.hasOwn(error.fields, name));
    const { query, ignored } = usableQuery(Object.fromEntries(usable), parseQuery);
    return { query, ignored: { ...error.fields, ...ignored } };
  }
}

interface ListView {
  readonly query: ListQuery;
  readonly found: PostPage;
  readonly names: ReadonlyMap<number, string>;
  readonly uid: number;
  readonly may: Visitor['may'];
  /** The parameters of the address that were ignored, and why. */
  readonly ignored: Fields;
}

function listPage(frame: Frame, view: ListView): string {
  const { query, found, may, ignored } = view;
  const { totalItems } = found.pagination;
  const hasList = totalItems > 0 || isFiltered(query);
  return layout(frame, {
    title: 'Posts',
    lead: isFiltered(query) ? `${count(totalItems, 'post')} found` : count(totalItems, 'post'),
    actions: html`${may.export && totalItems > 0 && exportMenu(query)}${may.write && hasList && writeButtons()}`,
    main: html`${ignoredNotice(ignored)}${hasList && filters(query)}
${found.posts.length > 0 ? postTable(view) : nothing(view)}
${pager({ ...found.pagination, total: totalItems, href: (page) => hrefOf(query, { page }) })}`,
  });
}

function ignoredNotice(ignored: Fields): Content {
  const labels: Record<string, string> = { userId: 'User number', search: 'Search', page: 'Page' };
  const problems = Object.entries(ignored).map(([name, problem]) => `${labels[name] ?? name} ${problem}`);
  if (problems.length === 0) return undefined;
  return notice('warn', `${problems.join('; ')}.`, { title: 'Some filters were ignored' });
}

function isFiltered({ userId, search }: ListQuery): boolean {
  return userId !== undefined || search !== undefined;
}

function writeButtons(): Html {
  return html`${linkButton(pageRoutes.importPosts, 'Import')}${linkButton(pageRoutes.newPost, html`${icon('plus')}New post`, 'primary')}`;
}

function exportMenu({ userId, search }: ListQuery): Html {
  const href = (format: string) => link(pageRoutes.exportPosts, { userId, search, format });
  return menu('Export', [
    { href: href('json'), label: 'As JSON', download: true },
    { href: href('csv'), label: 'As CSV for spreadsheets', download: true },
  ]);
}

function filters(query: ListQuery): Html {
  const { userId, search, sortBy, sortOrder } = query;
  return html`<form class="filters" role="search" action="${pageRoutes.posts}">
${field({ name: 'search', label: 'Search in title and body', type: 'search', value: search, attributes: { maxlength: 256 } })}
${field({ name: 'userId', label: 'User number', value: userId, attributes: { inputmode: 'numeric', pattern: '[0-9]*' } })}
${field({ name: 'sortBy', label: 'Sort by', type: 'select', value: sortBy, choices: sortChoices, phoneOnly: true })}
${field({ name: 'sortOrder', label: 'Order', type: 'select', value: sortOrder, choices: orderChoices, phoneOnly: true })}
<div class="actions"><button class="secondary">${icon('search')}Apply</button>${isFiltered(query) && linkButton(pageRoutes.posts, 'Clear', 'quiet')}</div></form>`;
}

const sortChoices = [
  ['id', 'Number'],
  ['title', 'Title'],
  ['createdAt', 'Created'],
  ['updatedAt', 'Changed'],
] as const;

const orderChoices = [
  ['desc', 'Descending'],
  ['asc', 'Ascending'],
] as const;

function postTable({ query, found, names, uid, may }: ListView): Html {
  const sortable = (
    header: string,
    sortBy: ListQuery['sortBy'],
  ): Pick<Column<Post>, 'header' | 'sortHref' | 'sorted'> => ({
    header,
    sortHref: sortHref(query, sortBy),
    sorted: query.sortBy === sortBy ? query.sortOrder : undefined,
  });
  const columns: Column<Post>[] = [
    { ...sortable('Title', 'title'), kind: 'main', cell: (post) => titleCell(post, query.search) },
    { ...sortable('Number', 'id'), kind: 'number', cell: (post) => post.id },
    {
      header: 'User',
      kind: 'number',
      cell: ({ userId }) =>
        html`${userId === uid ? 'you' : truncate(names.get(userId) ?? '', 24)} <small class="muted">${userId}</small>`,
    },
    { ...sortable('Created', 'createdAt'), kind: 'fit', cell: (post) => time(post.createdAt) },
    {
      ...sortable('Changed', 'updatedAt'),
      kind: 'fit',
      cell: (post) => post.updatedAt !== post.createdAt && time(post.updatedAt),
    },
  ];
  if (may.write || may.delete) columns.push(actionColumn(may));
  return table({ caption: 'Posts', columns, rows: found.posts });
}

function titleCell(post: Post, search: string | undefined): Content {
  return html`<a href="${postPath('post', post.id)}">${post.title}</a><div>${excerpt(post.body, search)}</div>`;
}

function actionColumn(may: ListView['may']): Column<Post> {
  return {
    header: 'Actions',
    kind: 'row-actions',
    cell: ({
      id,
    }) => html`${may.write && html`<a href="${postPath('editPost', id)}" aria-label="Edit ${id}">Edit</a>`}
${may.delete && html`<a href="${postPath('deletePost', id)}" aria-label="Delete ${id}" data-dialog>Delete</a>`}`,
  };
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
      text: 'The search finds your text anywhere in the title or the body, in upper or lower case. Try a shorter text or another user.',
      actions: linkButton(pageRoutes.posts, 'Clear the filter'),
    });
  }
  return empty({
    icon: 'inbox',
    title: 'No posts yet',
    text: may.write
      ? 'A post has a title and a body. Write the first one, or import a CSV or JSON file.'
      : 'Posts appear here as soon as somebody writes one.',
    actions: may.write ? writeButtons() : undefined,
  });
}

function sortHref(query: ListQuery, sortBy: ListQuery['sortBy']): string {
  const isDescending = query.sortBy === sortBy && query.sortOrder === 'desc';
  const isOther = query.sortBy !== sortBy;
  const sortOrder = isOther && sortBy !== 'title' ? 'desc' : isDescending || isOther ? 'asc' : 'desc';
  return hrefOf(query, { sortBy, sortOrder, page: 1 });
}

function hrefOf(query: ListQuery, change: Partial<ListQuery>): string {
  const { userId, search, sortBy, sortOrder, page, pageSize } = { ...query, ...change };
  const isDefaultOrder = sortBy === 'id' && sortOrder === 'desc';
  return link(pageRoutes.posts, {
    search,
    userId,
    sortBy: isDefaultOrder ? undefined : sortBy,
    sortOrder: isDefaultOrder ? undefined : sortOrder,
    page: page === 1 ? undefined : page,
    pageSize: pageSize === 20 ? undefined : pageSize,
  });
}

const excerptCharacters = 90;
const leadCharacters = 30;

/** One line of a text: its start, or the part around the first match of a search, with the match marked. */
function excerpt(text: string, search: string | undefined): Content {
  const line = text.slice(0, 20_000).replace(/\s+/gu, ' ').trim();
  const lower = line.toLowerCase();
  // Some letters are longer in lower case. Then positions in both texts differ, and nothing is marked.
  const at = search && lower.length === line.length ? lower.indexOf(search.toLowerCase()) : -1;
  if (!search || at === -1) return truncate(line, excerptCharacters);
  const start = at > excerptCharacters / 2 ? at - leadCharacters : 0;
  const end = at + search.length;
  return html`${start > 0 && '…'}${withoutHalves(line.slice(start, at))}<mark>${line.slice(at, end)}</mark>${truncate(line.slice(end), excerptCharacters + start - end)}`;
}

function truncate(text: string, length: number): string {
  return text.length > length ? `${withoutHalves(text.slice(0, Math.max(length, 0)))}…` : text;
}

/** Without half of a surrogate pair that a cut may leave at either end. */
function withoutHalves(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
}
