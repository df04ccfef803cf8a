import type { Environment, Settings } from '#kit/config.ts';
import type { DatabaseOptions } from '#kit/db/index.ts';
import { AppError } from '#kit/errors.ts';
import type { Log } from '#kit/log.ts';
import { configOf, type Service } from '#kit/service.ts';
import { topology } from '../services/index.ts';
import { surroundingsFor } from '../services/system.ts';

/** How to open the database of each service that has one; of the named ones where any are named. */
export function databasesOf(
  names: readonly string[],
  environment: Environment,
  log?: Log,
): DatabaseOptions[] {
  const services = topology.map(({ service }) => service as unknown as Service<Settings>);
  const unknown = names.find((name) => !services.some((service) => service.name === name));
  if (unknown) throw new AppError('invalid_input', `there is no service "${unknown}"`);
  return services
    .filter((service) => names.length === 0 || names.includes(service.name))
    .flatMap((service) => {
      const surroundings = surroundingsFor(service.name, { environment, log });
      const options = service.database?.(configOf(service, environment), surroundings);
      return options ? [options] : [];
    });
}
