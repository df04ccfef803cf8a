import { type Config, type Environment, readConfig, type Settings } from '@octavo/core';
import { testConnections } from './mode.ts';

/** Names that every process reads, whatever its services. */
const shared = new Set(['OCTAVO_DATA', 'NODE_ENV', 'LOG_LEVEL']);

/** The settings of a service in a test. Throws for a name that it does not have: the test would run without, and not notice. */
export function testConfig<S extends Settings>(settings: S, environment: Environment): Config<S> {
  const unknown = Object.keys(environment).filter(
    (name) =>
      !shared.has(name) &&
      !Object.hasOwn(settings, name.replace(/_FILE$/, '')) &&
      !Object.hasOwn(settings, name),
  );
  if (unknown.length > 0) throw new TypeError(`the service has no setting ${unknown.join(', ')}`);
  const connections = environment.DATABASE_URL ? testConnections : {};
  return readConfig(settings, { ...connections, ...environment });
}
