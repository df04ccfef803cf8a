import {
  badge,
  type Column,
  type Content,
  type Html,
  html,
  rowMenu,
  table,
  time,
  truncate,
  withoutHalves,
} from '@octavo/web/html';
import type { Visitor } from '../../access/index.ts';
import { pageRoutes, postPath } from '../../routes.ts';
import type { SentimentName } from '../../sentiment/index.ts';
import type { Post } from '../post.ts';
import { hrefOf, type PageQuery } from './query.ts';

interface TableView {
  readonly query: PageQuery;
  readonly posts: readonly Post[];
  readonly names: ReadonlyMap<number, string>;
  readonly uid: number;
  readonly sentiments: ReadonlyMap<number, SentimentName> | undefined;
  readonly may: Visitor['may'];
}

/** The posts of a page. Users who may delete posts can select some. */
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
      selection: { name: 'id', value: ({ id }) => id, label: ({ title }) => nameOf(title) },
    }),
    buttons: html`<button class="secondary">Delete selected</button>`,
  });
}

function columnsOf({ query, names, uid, may, sentiments }: TableView): Column<Post>[] {
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
    { ...sortable('Number', 'id'), kind: 'fit', cell: (post) => post.id },
    {
      header: 'User',
      kind: 'fit',
      cell: ({ userId }) => (userId === uid ? 'you' : truncate(names.get(userId) ?? String(userId), 24)),
    },
    { ...sortable('Created', 'createdAt'), kind: 'fit', cell: (post) => time(post.createdAt) },
    {
      ...sortable('Changed', 'updatedAt'),
      kind: 'fit',
      cell: (post) => post.updatedAt !== post.createdAt && time(post.updatedAt),
    },
  ];
  if (sentiments)
    columns.push({ header: 'Sentiment', kind: 'plain', cell: ({ id }) => sentimentCell(sentiments.get(id)) });
  if (may.write || may.delete) columns.push(actionColumn(may));
  return columns;
}

const tones = { positive: 'good', neutral: 'plain', negative: 'bad' } as const;

/** Cell of a sentiment; empty for a post that was not classified yet. */
function sentimentCell(sentiment: SentimentName | undefined): Content {
  return sentiment && badge(tones[sentiment], sentiment);
}

/** A line on a desk, and a few lines on a phone. */
const titleCharacters = 120;

function titleCell(post: Post, search: string | undefined): Content {
  return html`<a href="${postPath('post', post.id)}">${excerpt(post.title, search)}</a><div>${excerpt(post.body, search)}</div>`;
}

function actionColumn(may: Visitor['may']): Column<Post> {
  return {
    header: 'Actions',
    kind: 'row-actions',
    cell: ({ id, title }) =>
      rowMenu(nameOf(title), [
        ...(may.write ? [{ href: postPath('editPost', id), label: 'Edit' }] : []),
        ...(may.delete ? [{ href: postPath('deletePost', id), label: 'Delete', asks: true }] : []),
      ]),
  };
}

/** A title as the name of its row for screen readers. */
function nameOf(title: string): string {
  return truncate(title.trim(), titleCharacters);
}

function sortHref(query: PageQuery, sortBy: PageQuery['sortBy']): string {
  const isDescending = query.sortBy === sortBy && query.sortOrder === 'desc';
  const isOther = query.sortBy !== sortBy;
  const sortOrder = isOther && sortBy !== 'title' ? 'desc' : isDescending || isOther ? 'asc' : 'desc';
  return hrefOf(query, { sortBy, sortOrder, page: 1 });
}

/**
 * A form around a table with a `selection`, with a bar for what to do with the selected rows. The form leads to a page that asks
 * first. With `select.js`, the bar shows how many rows are selected, and only if there are any.
 */
function selectionForm(options: {
  /** The address of the page that gets the selected rows in its query. */
  action: string;
  table: Html;
  /** Buttons, each of which submits the form. */
  buttons: Content;
  /** Further fields, such as where to return to. */
  fields?: Content;
}): Html {
  return html`<form action="${options.action}" data-selection>${options.fields}${options.table}
<div class="selection-bar" data-selection-bar><span data-selection-count aria-live="polite"></span>
<span class="actions">${options.buttons}</span></div></form>`;
}

const excerptCharacters = titleCharacters;
/** Characters in front of a match that is not near the start. */
const leadCharacters = 30;

/** One line of a text: its start, or the part around the first match of a search, with the match marked. */
function excerpt(text: string, search: string | undefined): Content {
  const line = text.slice(0, 20_000).replace(/\s+/gu, ' ').trim();
  const lower = line.toLowerCase();
  // Some letters are longer in lower case. Then positions in both texts differ, and nothing is marked.
  const at = search && lower.length === line.length ? lower.indexOf(search.toLowerCase()) : -1;
  if (!search || at === -1) return truncate(line, excerptCharacters);
  const start = at > leadCharacters ? at - leadCharacters : 0;
  const end = at + search.length;
  return html`${start > 0 && '…'}${withoutHalves(line.slice(start, at))}<mark>${line.slice(at, end)}</mark>${truncate(line.slice(end), excerptCharacters + start - end)}`;
}
