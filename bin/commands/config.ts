import { parseArgs } from 'node:util';
import type { Environment, Setting, Settings } from '#kit/config.ts';
import { AppError } from '#kit/errors.ts';
import { topology } from '../../services/index.ts';
import { suiteSettings } from '../../services/system.ts';

export async function run(args: string[]): Promise<number> {
  const { values, positionals: names } = parseArgs({
    args,
    allowPositionals: true,
    options: { example: { type: 'boolean', default: false } },
  });
  const sections = settingsOf(names);
  process.stdout.write(values.example ? example(sections) : listing(sections));
  return 0;
}

/** The settings of the suite and of each service, by section. */
export function settingsOf(names: readonly string[] = []): [string, Settings][] {
  const known = topology.map((entry) => entry.service.name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new AppError('invalid_input', `unknown service ${unknown[0]}; known: ${known.join(', ')}`);
  const chosen = topology.filter(({ service }) => names.length === 0 || names.includes(service.name));
  return [
    ['every service', suiteSettings],
    ...chosen.map(({ service }): [string, Settings] => [service.name, service.settings]),
  ];
}

/** What `.env.example` holds: every setting once, commented out, with its help. */
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

function listing(sections: readonly [string, Settings][]): string {
  return sections
    .map(
      ([title, settings]) =>
        `${title}\n${rows(settings, environmentOf(title)).join('\n') || '  (none of its own)'}\n`,
    )
    .join('\n');
}

/** What a service reads its settings from: some read a file besides. */
function environmentOf(title: string): Environment {
  const service = topology.find((entry) => entry.service.name === title)?.service;
  return service?.sources?.(process.env) ?? process.env;
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
