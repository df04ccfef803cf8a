import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesAny } from '#kit/http/entity-tags.ts';
import { Type } from '#kit/schema.ts';
import type { Page } from './paging.ts';
import { pathOf, routes } from './routes.ts';
import type { Versions } from './versions.ts';

export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'Entity tags such as "v3", one of which must be current' }),
  ),
});

const entityTag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const entityTags = new RegExp(`^[\\s,]*${entityTag}(?:\\s*,[\\s,]*${entityTag})*[\\s,]*$`);

/**
 * The versions in an `If-Match` header (RFC 9110 section 13.1.1); undefined if any version will do. Weak tags and those of others
 * match no version, nor does a header that is malformed.
 */
export function versionsIn(ifMatch: string | undefined): Versions {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  if (!entityTags.test(ifMatch)) return [];
  return Array.from(ifMatch.matchAll(/(W\/)?"([^"]*)"/g), ([, weak, tag = '']) => {
    const version = /^v([1-9]\d{0,14})$/.exec(tag)?.[1];
    return weak || version === undefined ? -1 : Number(version);
  });
}

interface Versioned {
  readonly id: string;
  readonly version: number;
}

/** Adds the entity tag of what is sent. */
export function tagged<T extends { readonly version: number }>(reply: FastifyReply, body: T): T {
  reply.header('etag', `"v${body.version}"`);
  return body;
}

/** Adds status 201 and the address of what was created. */
export function created<T extends { readonly id: string }>(reply: FastifyReply, route: string, body: T): T {
  reply.code(201).header('location', pathOf(route, body.id));
  return 'version' in body ? (tagged(reply, body as T & Versioned) as T) : body;
}

/** Adds status 202 and the address of a task that was queued. */
export function accepted<T extends { readonly id: string }>(reply: FastifyReply, task: T): T {
  reply.code(202).header('location', pathOf(routes.task, task.id));
  return task;
}

/** Whether the client has this version already; then the response is 304. */
export function isKnown({ headers }: FastifyRequest, { version }: { readonly version: number }): boolean {
  const known = headers['if-none-match'];
  return known !== undefined && matchesAny(known, `"v${version}"`);
}

/** Adds the number of all items, and links to the next page and the first (RFC 8288). */
export function listed<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  { items, total, next }: Page<T>,
): T[] {
  reply.header('x-total-count', String(total));
  const [path = '', query = ''] = request.url.split('?');
  const parameters = new URLSearchParams(query);
  const links: string[] = [];
  if (next !== undefined) {
    parameters.set('cursor', next);
    links.push(`<${path}?${parameters}>; rel="next"`);
  }
  if (new URLSearchParams(query).has('cursor')) {
    parameters.delete('cursor');
    const first = parameters.size > 0 ? `${path}?${parameters}` : path;
    links.push(`<${first}>; rel="first"`);
  }
  if (links.length > 0) reply.header('link', links.join(', '));
  return items;
}

export const NotModified = Type.Null({ description: 'Not changed since If-None-Match' });
