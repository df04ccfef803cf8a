import { type Environment, readConfig, type Settings } from '@octavo/core';
import type { Service } from '@octavo/data/service';
import { suiteSettings } from './suite-settings.ts';
import { type Entry, System, type SystemOptions, unknownService } from './system.ts';
import { basePort, topology } from './topology.ts';

export { imports, type Loaded, seeds } from './seeds.ts';
export { grpcPortsFor, topology } from './topology.ts';

/** Starts the named services and those that they call. */
export async function startSystem(names: readonly string[], options: SystemOptions): Promise<System> {
  const system = new System(topology, options);
  try {
    // The others begin as its applications.
    if (system.wantsOneSignIn && names.includes('passwordless')) await system.start('passwordless');
    for (const name of inOrder(names)) await system.start(name);
    return system;
  } catch (error) {
    await system[Symbol.asyncDispose]();
    throw error;
  }
}

/** The named services, or all if none is named, in the order of the topology. Throws for an unknown name. */
export async function loadServices(names: readonly string[] = []): Promise<Service<Settings, never>[]> {
  const known = topology.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownService(unknown, known);
  const entries = names.length === 0 ? topology : topology.filter(({ name }) => names.includes(name));
  return Promise.all(entries.map(async (entry) => (await entry.load()).service));
}

/** The services that `octavo up` starts: those with pages or a public API. */
export function upNames(): string[] {
  return topology.filter((entry) => entry.upPort !== undefined).map((entry) => entry.name);
}

/**
 * Ports by service name. A single service uses PORT or its default; several use their `octavo up` offsets from PORT.
 */
export function portsFor(names: readonly string[], port: number | undefined): Record<string, number> {
  const entries = topology.filter((entry) => names.includes(entry.name));
  return Object.fromEntries(entries.map((entry) => [entry.name, portOf(entry, entries.length, port)]));
}

/** Reads the settings that all services share. */
export function readSuite(environment: Environment) {
  return readConfig(suiteSettings, environment);
}

function portOf(entry: Entry, count: number, port: number | undefined): number {
  if (port === 0) return 0;
  if (count === 1) return port ?? entry.alonePort;
  if (entry.upPort === undefined) return entry.alonePort;
  return entry.upPort - basePort + (port ?? basePort);
}

/** Services that others call come first, so that they listen before they are called. */
function inOrder(names: readonly string[]): string[] {
  const wanted = new Set(names);
  const known = topology.map((entry) => entry.name);
  return [
    ...names.filter((name) => !known.includes(name)),
    ...known.filter((name) => wanted.has(name)).reverse(),
  ];
}
