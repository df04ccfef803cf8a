import { readFileSync } from 'node:fs';
import type { Settings } from '@octavo/core';
import { topology } from '../../apps/octavo/index.ts';
import type { Entry } from '../../apps/octavo/system.ts';

/** A service of the topology as it is deployed. */
export interface Site extends Entry {
  /** Port in its container. */
  readonly port: number;
  readonly settings: Settings;
  readonly isSingle: boolean;
  /** Other services call it by RPC. */
  readonly isCalled: boolean;
  /** Services that it calls by RPC, by the setting of their address. */
  readonly backends: readonly { readonly setting: string; readonly name: string; readonly port: number }[];
  /** Name of the setting that trusts proxies, of a service that the public reaches. */
  readonly proxySetting: string | undefined;
  /** Settings with a public address: its own, or that of the service whose work it does. */
  readonly addresses: readonly { readonly setting: string; readonly of: Entry; readonly path: string }[];
}

/** Every service, with its settings. */
export function loadSites(): Promise<Site[]> {
  const called = topology.flatMap(({ calls = {} }) => Object.values(calls).map(({ name }) => name));
  return Promise.all(
    topology.map(async (entry) => {
      const { service } = await entry.load();
      const owner = topology.find(
        (each) => each.deploy.host !== undefined && folderOf(each) === folderOf(entry),
      );
      return {
        ...entry,
        port: portOf(entry),
        settings: service.settings,
        isSingle: service.isSingle ?? false,
        isCalled: called.includes(entry.name),
        backends: Object.entries(entry.calls ?? {}).map(([setting, each]) => ({
          setting,
          name: each.name,
          port: portOf(each),
        })),
        proxySetting:
          entry.deploy.host === undefined
            ? undefined
            : Object.keys(service.settings).find((name) => name.endsWith('TRUST_PROXY')),
        addresses: Object.entries(entry.deploy.addresses ?? {}).map(([setting, path]) => ({
          setting,
          of: owner ?? entry,
          path,
        })),
      };
    }),
  );
}

/** Port of a public service on the machine of the Compose file. */
export function composePort({ upPort = 0 }: Entry): number {
  return upPort + 5_080;
}

/** Value of `SUITE_SITES`: all public services, the portal first. */
export function siteList(sites: readonly Site[], urlOf: (site: Site) => string): string {
  return publicOf(sites)
    .map((site) => `${site.name}=${urlOf(site)}`)
    .join(',');
}

/** Services that the public reaches, by their ports. */
export function publicOf(sites: readonly Site[]): Site[] {
  return sites
    .filter(({ deploy }) => deploy.host !== undefined)
    .toSorted((a, b) => (a.upPort ?? 0) - (b.upPort ?? 0));
}

/**
 * The text of a template of `deploy/templates/`, with values in place of `{{name}}`. A line that is only such a name becomes the lines of
 * its value, as far indented, or goes if that is empty.
 */
export function fill(template: string, values: Readonly<Record<string, string | number>>): string {
  const text = readFileSync(new URL(`../templates/${template}`, import.meta.url), 'utf8');
  const known = {
    generated: 'Written by "npm run deploy" from the topology of services and deploy/templates.',
    ...values,
  };
  const valueAt = (name: string) => {
    const value = (known as Record<string, string | number>)[name];
    if (value === undefined) throw new Error(`${template} has an unknown place {{${name}}}`);
    return String(value);
  };
  return text
    .replace(/^([ \t]*)\{\{(\w+)\}\}\n/gm, (_line, indent: string, name: string) =>
      valueAt(name)
        .split('\n')
        .filter((line, index, all) => line !== '' || all.length > 1 || index > 0)
        .map((line) => (line === '' ? '\n' : `${indent}${line}\n`))
        .join(''),
    )
    .replace(/\{\{(\w+)\}\}/g, (_place, name: string) => valueAt(name));
}

function portOf(entry: Entry): number {
  return entry.alonePort || 3_000;
}

function folderOf({ name, folder = name }: Entry): string {
  return folder;
}
