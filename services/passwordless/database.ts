import { basename, dirname, resolve } from 'node:path';
import { refuse } from '#kit/config.ts';
import type { DatabaseOptions } from '#kit/db/index.ts';
import type { ServiceContext } from '#kit/service.ts';
import type { PasswordlessConfig } from './settings.ts';

/** Where this service keeps its data; web and worker open the same. */
export function databaseOptions(
  config: PasswordlessConfig,
  { dataFolder, log, metrics }: ServiceContext,
): DatabaseOptions {
  const { PASSWORDLESS_DATABASE_PATH: path, PASSWORDLESS_DATABASE_URL: url } = config;
  if (path !== undefined && url !== undefined) {
    refuse({ PASSWORDLESS_DATABASE_PATH: 'must not be set together with PASSWORDLESS_DATABASE_URL' });
  }
  return {
    name: 'passwordless',
    url: path ? undefined : (url ?? config.DATABASE_URL),
    folder: path ? dirname(resolve(path)) : dataFolder,
    ...(path ? { fileName: basename(path) } : {}),
    migrations: new URL('./migrations/', import.meta.url),
    log,
    metrics,
  };
}
