import { type TProperties, Type } from '@octavo/core';
import type { FastifyReply } from 'fastify';

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Number of items on all pages. */
  readonly total: number;
  /** Cursor of the next page; absent on the last one, and in lists that are paged by offset. */
  readonly next?: string | undefined;
}

/** Page of a list that is paged by cursor. */
export interface PageRequest {
  readonly limit: number;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** Page of a list that is paged by offset. */
export interface OffsetRequest {
  readonly limit: number;
  readonly offset: number;
}

/** Way in which a list is paged: its parameters, and links from one page to others. */
export interface Paging<Query> {
  readonly parameters: TProperties;
  /** A sentence for `/openapi.json`. */
  readonly description: string;
  links(url: string, query: Query, page: Page<unknown>): Links;
}

/** Addresses by their relation (RFC 8288); undefined for pages that do not exist. */
export type Links = Readonly<Record<string, string | undefined>>;

/** Pages that follow each other by cursor, which stay right while items are added. A larger limit becomes `limitMax`. */
export function cursorPaging({ limit = 100, limitMax = 500 } = {}): Paging<PageRequest> {
  const parameters = {
    limit: Type.Integer({
      minimum: 1,
      maximum: limitMax,
      default: limit,
      'x-clamp': limitMax,
      description: `At most ${limitMax}; more is ${limitMax}`,
    }),
    cursor: Type.Optional(Type.String({ description: 'From the Link header of the page before' })),
  };
  return {
    parameters,
    description: 'The `Link` header has the next page, `X-Total-Count` the number of items on all pages.',
    links: (url, { cursor }, { next }) => ({
      next: next === undefined ? undefined : hrefWith(url, { cursor: next }),
      first: cursor === undefined ? undefined : hrefWith(url, { cursor: undefined }),
    }),
  };
}

/** Pages that begin at any offset. */
export function offsetPaging({ limit = 50, limitMax = 100 } = {}) {
  const parameters = {
    limit: Type.Integer({ minimum: 1, maximum: limitMax, default: limit }),
    offset: Type.Integer({ minimum: 0, default: 0 }),
  };
  return {
    parameters,
    description: 'The `Link` header has the other pages, `X-Total-Count` the number of items on all pages.',
    links: (url, request, { total }) => offsetLinks(url, request, total),
  } satisfies Paging<OffsetRequest>;
}

/** Links to the first, previous, next and last page of a list that is paged by offset. */
export function offsetLinks(url: string, { limit, offset }: OffsetRequest, total: number) {
  const at = (start: number) => hrefWith(url, { limit, offset: start });
  const last = (Math.ceil(total / limit) - 1) * limit;
  return {
    first: total > 0 ? at(0) : undefined,
    prev: offset > 0 ? at(Math.max(0, Math.min(offset, total) - limit)) : undefined,
    next: offset + limit < total ? at(offset + limit) : undefined,
    last: total > 0 ? at(last) : undefined,
  };
}

/** An address with some of its parameters replaced; undefined removes one. */
function hrefWith(url: string, changes: Readonly<Record<string, string | number | undefined>>): string {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, String(value));
  }
  return parameters.size > 0 ? `${path}?${parameters}` : path;
}

/** Adds `Link` (RFC 8288) if there are other pages. */
export function addLinks(reply: FastifyReply, links: Links): void {
  const targets = Object.entries(links).filter(([, target]) => target !== undefined);
  if (targets.length === 0) return;
  reply.header('link', targets.map(([relation, target]) => `<${target}>; rel="${relation}"`).join(', '));
}

/** Adds `X-Total-Count` and `Link` to the response with a page of a list. */
export function addPageHeaders(reply: FastifyReply, total: number, links: Links): void {
  reply.header('x-total-count', String(total));
  addLinks(reply, links);
}
