import { type Database, type DatabaseOptions, openDatabase } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

type Place = Pick<DatabaseOptions, 'url' | 'folder' | 'log' | 'metrics'>;

/** Where this service keeps its posts; threads of its own open the same. */
export function postDatabase(place: Place): DatabaseOptions {
  return { name: 'posts', migrations: new URL('./migrations/', import.meta.url), ...place };
}

export function openPostDatabase(place: Place): Promise<Database<Tables>> {
  return openDatabase<Tables>(postDatabase(place));
}
