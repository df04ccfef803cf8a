import { existsSync } from 'node:fs';
import type { Environment, Settings } from '@octavo/core';
import { AppError } from '@octavo/core';
import { sqliteFile } from '@octavo/data';
import { configOf, type Service, type ServiceContext } from '@octavo/data/service';
import { contextFor } from '../system.ts';

type WithDatabase<S extends Settings> = Pick<Service<S, never>, 'name' | 'settings' | 'sources' | 'database'>;

/**
 * The context of a command that works on data which is there already. Throws `not_found` where there is none: with a mistyped `--data` it
 * would make an empty database, and report that nothing is in it.
 */
export function existingContextOf<S extends Settings>(
  service: WithDatabase<S>,
  environment: Environment,
): ServiceContext {
  const context = contextFor(service.name, { environment }, { makesFolder: false });
  const options = service.database?.(configOf(service, environment), context);
  if (options && !options.url && !existsSync(sqliteFile(options))) {
    const text = `there is no data of ${service.name} in ${context.dataFolder}; name the folder with --data`;
    throw new AppError('not_found', text);
  }
  return context;
}

/** The context of a command that may be the first to work on the data of a service. */
export function contextOf<S extends Settings>(
  service: WithDatabase<S>,
  environment: Environment,
): ServiceContext {
  return contextFor(service.name, { environment });
}
