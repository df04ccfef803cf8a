import { Type } from '@octavo/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesAny } from '../http/responses/entity-tags.ts';

/** Header of a change that requires a version of its target. */
export const IfMatch = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'Entity tags, one of which must be current' })),
});

/** The response 304. */
export const NotModified = Type.Null({ description: 'Not changed since If-None-Match' });

/** Adds the entity tag of the response. Returns true if the client has it already; then the response is 304. */
export function addEntityTag(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  reply.header('etag', tag);
  const known = request.headers['if-none-match'];
  return known !== undefined && matchesAny(known, tag);
}
