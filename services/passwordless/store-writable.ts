import { statement } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

/** Changes nothing, but fails where nothing could be changed: a disk that is read-only, a standby. */
export const writeNothing = statement<Tables>((db) => db.deleteFrom('failed_attempt').where('id', '=', ''));
