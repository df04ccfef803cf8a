import type {} from '@fastify/cookie';
import type { FastifyRequest } from 'fastify';

/** The color scheme that the reader chose; `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

/** The cookie that stores the choice. All services of a host share it, and scripts can read it. */
export const themeCookie = 'octavo_theme';

/** The theme that the sender of a request has chosen. */
export function readTheme(request: FastifyRequest): Theme {
  return toTheme(request.cookies[themeCookie]);
}

/** One of the three themes; anything else is `auto`. */
export function toTheme(value: unknown): Theme {
  return value === 'light' || value === 'dark' ? value : 'auto';
}
