import { time } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { selectionForm } from '#kit/html/selection.ts';
import { type Column, table } from '#kit/html/table.ts';
import type { Visitor } from '../access/index.ts';
import { pageRoutes, postPath } from '../routes.ts';
import { excerpt, truncate } from './excerpt.ts';
import { hrefOf, type PageQuery } from './pages-list-query.ts';
import type { Post } from './post.ts';

interface TableView {
  readonly query: PageQuery;
  readonly posts: readonly Post[];
  readonly names: ReadonlyMap<number, string>;
  readonly uid: number;
  readonly may: Visitor['may'];
}

/** The posts of a page. Whoever may delete posts can select some. */
export function postTable(view: TableView): Html {
  const { query, posts, may } = view;
  const columns = columnsOf(view);
  if (!may.delete) return table({ caption: 'Posts', columns, rows: posts });
  return selectionForm({
    action: pageRoutes.deletePosts,
    fields: html`<input type="hidden" name="back" value="${hrefOf(query)}">`,
    table: table({
      caption: 'Posts',
      columns,
      rows: posts,
      selection: { name: 'id', value: ({ id }) => id, label: ({ id }) => String(id) },
    }),
    buttons: html`<button class="secondary">Delete selected</button>`,
  });
}

function columnsOf({ query, names, uid, may }: TableView): Column<Post>[] {
  const sortable = (
    header: string,
    sortBy: PageQuery['sortBy'],
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
  return columns;
}

/** A line on a desk, and a few lines on a phone. */
const titleCharacters = 80;

function titleCell(post: Post, search: string | undefined): Content {
  return html`<a href="${postPath('post', post.id)}">${truncate(post.title, titleCharacters)}</a><div>${excerpt(post.body, search)}</div>`;
}

function actionColumn(may: Visitor['may']): Column<Post> {
  return {
    header: 'Actions',
    kind: 'row-actions',
    cell: ({
      id,
    }) => html`${may.write && html`<a href="${postPath('editPost', id)}" aria-label="Edit ${id}">Edit</a>`}
${may.delete && html`<a href="${postPath('deletePost', id)}" aria-label="Delete ${id}" data-dialog>Delete</a>`}`,
  };
}

function sortHref(query: PageQuery, sortBy: PageQuery['sortBy']): string {
  const isDescending = query.sortBy === sortBy && query.sortOrder === 'desc';
  const isOther = query.sortBy !== sortBy;
  const sortOrder = isOther && sortBy !== 'title' ? 'desc' : isDescending || isOther ? 'asc' : 'desc';
  return hrefOf(query, { sortBy, sortOrder, page: 1 });
}
