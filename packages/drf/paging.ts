import { Type } from '@octavo/core';
import { addPageHeaders, type OffsetRequest, offsetLinks } from '@octavo/web/rest';
import type { FastifyReply, FastifyRequest } from 'fastify';

const limitMax = 1_000;

/** The parameters of a list, for `/openapi.json`. */
export const pagingParameters = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax, default: limitMax })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
};

/** Reads `limit` and `offset` of a query. A value that is no number is ignored, one that is too large is cut. */
export function readPaging(query: unknown): OffsetRequest {
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

/** Adds `X-Total-Count` and, if there are further items, `Link` with `next` and `prev` to the response with a list. */
export function addPagingHeaders(
  { url }: FastifyRequest,
  reply: FastifyReply,
  { paging, total }: { paging: OffsetRequest; total: number },
): void {
  const { next, prev } = offsetLinks(url, paging, total);
  addPageHeaders(reply, total, { next, prev });
}

function naturalNumber(text: string | undefined): number | undefined {
  const isNumber = text !== undefined && /^\s*\+?\d+\s*$/.test(text);
  return isNumber ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;
}

/** Returns the number of items of a list. It is counted only if the list does not end on this page. */
export async function totalOf(
  items: readonly unknown[],
  { limit, offset }: OffsetRequest,
  count: () => Promise<{ readonly total: number } | undefined>,
): Promise<number> {
  if (items.length > 0 ? items.length < limit : offset === 0) return offset + items.length;
  return (await count())?.total ?? 0;
}
