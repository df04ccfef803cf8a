import type { Environment, Log } from '@octavo/core';
import type { DatabaseOptions } from '@octavo/data';
import { configOf } from '@octavo/data/service';
import { loadServices } from '../../index.ts';
import { contextFor } from '../../system.ts';

/** Returns how to open the database of each service that has one. With names, only of these services. */
export async function databasesOf(
  names: readonly string[],
  environment: Environment,
  log?: Log,
): Promise<DatabaseOptions[]> {
  const services = await loadServices(names);
  return services.flatMap((service) => {
    const context = contextFor(service.name, { environment, log }, { makesFolder: false });
    const options = service.database?.(configOf(service, environment), context);
    return options ? [options] : [];
  });
}
