import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from '../schema.ts';

/** Which part of a list to answer. */
export interface Paging {
  readonly limit: number;
  readonly offset: number;
}

/** One part of a list, and how many items the whole list has. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

const limitMax = 1_000;

/** The parameters of a list, for `/openapi.json`. */
export const pagingParameters = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax, default: limitMax })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
};

/** Reads `limit` and `offset` of a query. A value that is no number is ignored, one that is too large is cut. */
export function readPaging(query: unknown): Paging {
  const limit = naturalNumber(parameter(query, 'limit'));
  return {
    limit: limit ? Math.min(limit, limitMax) : limitMax,
    offset: naturalNumber(parameter(query, 'offset')) ?? 0,
  };
}

/**
 * A parameter of a query, the last one if it is repeated; undefined if it is absent or is not UTF-8. U+FFFD stands for U+0000, which
 * PostgreSQL refuses in a text.
 */
export function parameter(query: unknown, name: string): string | undefined {
  const given = [(query as Readonly<Record<string, unknown>>)[name]].flat().at(-1);
  return typeof given === 'string' ? given.replaceAll('\0', '\ufffd') : undefined;
}

/** Adds `X-Total-Count` and, if there are further items, `Link` with `next` and `prev` (RFC 8288) to the response with a list. */
export function addPagingHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { paging: { limit, offset }, total }: { paging: Paging; total: number },
): void {
  reply.header('x-total-count', String(total));
  const links: string[] = [];
  if (offset + limit < total) links.push(link(request, { limit, offset: offset + limit }, 'next'));
  if (offset > 0)
    links.push(link(request, { limit, offset: Math.max(0, Math.min(offset, total) - limit) }, 'prev'));
  if (links.length > 0) reply.header('link', links.join(', '));
}

function link(request: FastifyRequest, { limit, offset }: Paging, relation: 'next' | 'prev'): string {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  searchParams.set('limit', String(limit));
  searchParams.set('offset', String(offset));
  return `<${pathname}?${searchParams}>; rel="${relation}"`;
}

function naturalNumber(text: string | undefined): number | undefined {
  const isNumber = text !== undefined && /^\s*\+?\d+\s*$/.test(text);
  return isNumber ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;
}

/** How many items a list has: it is counted only if it does not end on this page. */
export async function totalOf(
  items: readonly unknown[],
  { limit, offset }: Paging,
  count: () => Promise<{ readonly total: number } | undefined>,
): Promise<number> {
  if (items.length > 0 ? items.length < limit : offset === 0) return offset + items.length;
  return (await count())?.total ?? 0;
}
