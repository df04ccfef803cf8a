import type {} from '@fastify/cookie';
import type { FastifyRequest } from 'fastify';

/** The color scheme the reader chose; `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

/** The cookie that remembers the choice. It is the same for all services of a host and readable by scripts. */
export const themeCookie = 'octavo_theme';

/** The choice of who sent a request. */
export function readTheme(request: FastifyRequest): Theme {
  return toTheme(request.cookies[themeCookie]);
}

/** One of the three themes; anything else is `auto`. */
export function toTheme(value: unknown): Theme {
  return value === 'light' || value === 'dark' ? value : 'auto';
}
