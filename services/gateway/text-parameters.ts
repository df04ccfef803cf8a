import type { FastifyRequest } from 'fastify';
import { AppError } from '#kit/errors.ts';
import type { HttpApp } from '#kit/http/access.ts';
import { protectedPrefix } from './routes.ts';

/**
 * Refuses text in the path, and in the query of the API, that no parameter can be: U+0000, which PostgreSQL does not store, and an id
 * with leading zeros, which would be a second address of the same post. Pages ignore what they cannot use of a query.
 */
export function checkTextParameters(app: HttpApp): void {
  app.addHook('preValidation', async (request) => {
    for (const [name, text] of parametersOf(request)) {
      const problem = problemOf(name, text);
      if (problem) throw new AppError('invalid_input', `${name} ${problem}`, { fields: { [name]: problem } });
    }
  });
}

function parametersOf({ params, query, url }: FastifyRequest): [name: string, text: unknown][] {
  const ofQuery = url.startsWith(`${protectedPrefix}/`) ? Object.entries(query ?? {}) : [];
  return [...Object.entries(params ?? {}), ...ofQuery].flatMap(([name, given]) =>
    [given].flat().map((text): [string, unknown] => [name, text]),
  );
}

/** The name of a stored export: whatever is not one is 404, and no database sees it. */
const exportNames = new Set(['key', 'name']);

function problemOf(name: string, text: unknown): string | undefined {
  if (typeof text !== 'string' || exportNames.has(name)) return undefined;
  if (text.includes('\0')) return 'must not contain the character U+0000';
  return name === 'id' && /^0\d/.test(text) ? 'must not start with a zero' : undefined;
}
