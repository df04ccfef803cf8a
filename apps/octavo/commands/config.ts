import { parseArgs } from 'node:util';
import type { Environment, Setting, Settings } from '@octavo/core';
import type { Service } from '@octavo/data/service';
import { loadServices } from '../index.ts';
import { suiteSettings } from '../suite-settings.ts';

export async function run(args: string[]): Promise<number> {
  const { values, positionals: names } = parseArgs({
    args,
    allowPositionals: true,
    options: { example: { type: 'boolean', default: false } },
  });
  const services = await loadServices(names);
  const sections = settingsOf(services);
  process.stdout.write(values.example ? example(sections) : listing(sections, services));
  return 0;
}

/** The settings that all services share and those of each service, by section. */
export function settingsOf(services: readonly Service<Settings, never>[]): [string, Settings][] {
  return [
    ['every service', suiteSettings],
    ...services.map(({ name, settings }): [string, Settings] => [name, settings]),
  ];
}

/** The text of `.env.example`: every setting once, commented out, with its help. */
export function example(sections: readonly [string, Settings][]): string {
  const seen = new Set<string>();
  return sections
    .map(([title, settings]) => {
      const fresh = Object.entries(settings).filter(([name]) => !seen.has(name) && seen.add(name));
      const lines = fresh.map(([name, setting]) => `# ${setting.help}\n# ${name}=${setting.default ?? ''}\n`);
      return lines.length > 0 ? `# --- ${title} ---\n\n${lines.join('\n')}` : '';
    })
    .filter((section) => section !== '')
    .join('\n');
}

function listing(
  sections: readonly [string, Settings][],
  services: readonly Service<Settings, never>[],
): string {
  return sections
    .map(([title, settings]) => {
      const service = services.find(({ name }) => name === title);
      // Some services read a configuration file too.
      const environment = service?.sources?.(process.env) ?? process.env;
      return `${title}\n${rows(settings, environment).join('\n') || '  (none)'}\n`;
    })
    .join('\n');
}

function rows(settings: Settings, environment: Environment): string[] {
  return Object.entries(settings).map((entry) => row(entry, environment));
}

function row([name, setting]: [string, Setting<unknown>], environment: Environment): string {
  const given = environment[name] || (setting.secret ? environment[`${name}_FILE`] : undefined);
  const value = given || setting.default;
  const shown = setting.secret && given ? '(hidden)' : (value ?? '(not set)');
  return `  ${name}=${shown}\n      ${setting.help} (${setting.kind})`;
}
