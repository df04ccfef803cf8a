import { empty, linkButton, menu, notice } from '#kit/html/blocks.ts';
import { field } from '#kit/html/form.ts';
import { count, time } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { icon } from '#kit/html/icons.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { pager } from '#kit/html/pager.ts';
import { type Column, table } from '#kit/html/table.ts';
import type { Listing, Page } from '../listing.ts';
import { pageRoutes, postPath } from '../page-routes.ts';
import type { Post } from '../post.ts';
import { link } from '../routes.ts';
import { excerpt } from './excerpt.ts';

export interface PostListView {
  readonly listing: Listing;
  readonly found: Page;
  readonly uid: number;
  readonly may: { readonly write: boolean; readonly delete: boolean; readonly export: boolean };
  /** What of the address could not be used. */
  readonly problem?: string | undefined;
}

export function postListPage(frame: Frame, view: PostListView): string {
  const { listing, found, may, problem } = view;
  const { totalItems } = found.pagination;
  const isFiltered = listing.filter.userId !== undefined || listing.filter.search !== undefined;
  const hasList = totalItems > 0 || isFiltered;
  return layout(frame, {
    title: 'Posts',
    lead: isFiltered ? `${count(totalItems, 'post')} found` : count(totalItems, 'post'),
    actions: html`${may.export && totalItems > 0 && exportMenu(listing)}${may.write && hasList && writeButtons()}`,
    main: html`${problem && notice('warn', problem)}${hasList && filters(listing)}
${found.posts.length > 0 ? postTable(view) : nothing(view, isFiltered)}
${pager({ ...found.pagination, total: totalItems, href: (page) => hrefOf(listing, { page }) })}`,
  });
}

function writeButtons(): Html {
  return html`${linkButton(pageRoutes.importPosts, 'Import')}${linkButton(pageRoutes.newPost, html`${icon('plus')}New post`, 'primary')}`;
}

function exportMenu({ filter }: Listing): Html {
  const href = (format: string) => link(pageRoutes.exportPosts, { ...filter, format });
  return menu('Export', [
    { href: href('json'), label: 'As JSON', download: true },
    { href: href('csv'), label: 'As CSV for spreadsheets', download: true },
  ]);
}

function filters({ filter, sortBy, sortOrder }: Listing): Html {
  const isFiltered = filter.userId !== undefined || filter.search !== undefined;
  return html`<form class="filters" role="search" action="${pageRoutes.posts}">
${field({ name: 'search', label: 'Search in title and body', type: 'search', value: filter.search, attributes: { maxlength: 256 } })}
${field({ name: 'userId', label: 'User number', value: filter.userId, attributes: { inputmode: 'numeric', pattern: '[0-9]*' } })}
${field({ name: 'sortBy', label: 'Sort by', type: 'select', value: sortBy, choices: sortChoices, phoneOnly: true })}
${field({ name: 'sortOrder', label: 'Order', type: 'select', value: sortOrder, choices: orderChoices, phoneOnly: true })}
<div class="actions"><button class="secondary">${icon('search')}Apply</button>${isFiltered && linkButton(pageRoutes.posts, 'Clear', 'quiet')}</div></form>`;
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

function postTable(view: PostListView): Html {
  const { listing, found, uid, may } = view;
  const sortable = (
    header: string,
    sortBy: Listing['sortBy'],
  ): Pick<Column<Post>, 'header' | 'sortHref' | 'sorted'> => ({
    header,
    sortHref: sortHref(listing, sortBy),
    sorted: listing.sortBy === sortBy ? listing.sortOrder : undefined,
  });
  const columns: Column<Post>[] = [
    { ...sortable('Title', 'title'), kind: 'main', cell: (post) => titleCell(post, listing.filter.search) },
    { ...sortable('Number', 'id'), kind: 'number', cell: (post) => post.id },
    {
      header: 'User',
      kind: 'number',
      cell: (post) =>
        post.userId === uid ? html`<small class="muted desk">you</small> ${uid}` : post.userId,
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

function actionColumn(may: PostListView['may']): Column<Post> {
  return {
    header: 'Actions',
    kind: 'row-actions',
    cell: ({
      id,
    }) => html`${may.write && html`<a href="${postPath('editPost', id)}" aria-label="Edit ${id}">Edit</a>`}
${may.delete && html`<a href="${postPath('deletePost', id)}" aria-label="Delete ${id}" data-dialog>Delete</a>`}`,
  };
}

function nothing({ listing, found, may }: PostListView, isFiltered: boolean): Html {
  if (found.pagination.totalItems > 0) {
    return empty({
      icon: 'list',
      title: 'This page is past the end',
      text: `There are ${count(found.pagination.totalItems, 'post')}.`,
      actions: linkButton(hrefOf(listing, { page: 1 }), 'Go to the first page'),
    });
  }
  if (isFiltered) {
    return empty({
      icon: 'search',
      title: 'No post fits',
      text: 'Search looks for your text anywhere in title or body, in any case. Try fewer letters or another user.',
      actions: linkButton(pageRoutes.posts, 'Clear the filter'),
    });
  }
  return empty({
    icon: 'inbox',
    title: 'No posts yet',
    text: may.write
      ? 'A post has a title and a body. Write the first one, or bring a CSV or JSON file.'
      : 'Posts appear here as soon as somebody writes one.',
    actions: may.write ? writeButtons() : undefined,
  });
}

function sortHref(listing: Listing, sortBy: Listing['sortBy']): string {
  const isDescending = listing.sortBy === sortBy && listing.sortOrder === 'desc';
  const isFresh = listing.sortBy !== sortBy;
  const sortOrder = isFresh && sortBy !== 'title' ? 'desc' : isDescending || isFresh ? 'asc' : 'desc';
  return hrefOf(listing, { sortBy, sortOrder, page: 1 });
}

function hrefOf(listing: Listing, change: Partial<Listing>): string {
  const { filter, sortBy, sortOrder, page, pageSize } = { ...listing, ...change };
  return link(pageRoutes.posts, {
    search: filter.search,
    userId: filter.userId,
    sortBy: sortBy === 'id' && sortOrder === 'desc' ? undefined : sortBy,
    sortOrder: sortBy === 'id' && sortOrder === 'desc' ? undefined : sortOrder,
    page: page === 1 ? undefined : page,
    pageSize: pageSize === 20 ? undefined : pageSize,
  });
}
