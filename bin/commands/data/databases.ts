import type { Environment } from '#kit/base/config.ts';
import type { Log } from '#kit/base/log.ts';
import type { DatabaseOptions } from '#kit/db/index.ts';
import { configOf } from '#kit/service.ts';
import { loadServices } from '../../../services/index.ts';
import { contextFor } from '../../../services/system.ts';

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
