import { lookup } from 'node:dns/promises';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { AppError, isLoopback, parseSites } from '@octavo/core';
import { checkSettings } from '../../check-settings.ts';
import { loadServices, topology } from '../../index.ts';
import { suiteSettings } from '../../suite-settings.ts';
import { type Examined, type Finding, fine, wrong } from './finding.ts';

const secretBytesMin = 32;
const charactersMin = 10;
const placeholders = /change.?me|replace.?me|your.?secret|^(secret|password|default|example|octavo|test)/i;
const makeSecret = 'put the output of "openssl rand -hex 32" there';

/** Checks that the settings are valid and fit each other, as each service does at its start. */
export async function checkValues({ names, environment }: Examined): Promise<Finding[]> {
  try {
    await checkSettings(names, environment);
    return [fine('settings', 'valid')];
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== 'CONFIG') throw error;
    const fix = 'correct it in .env or the environment; "npx octavo config" explains every setting';
    return Object.entries(error.fields).map(([name, problem]) =>
      wrong('settings', `${name} ${problem}`, fix),
    );
  }
}

/** Finds variables that differ from a setting by a slip of the keyboard: they would be ignored silently. */
export async function checkNames({ environment }: Examined): Promise<Finding[]> {
  const services = await loadServices();
  const known = new Set(
    [suiteSettings, ...services.map(({ settings }) => settings)].flatMap((settings) =>
      Object.keys(settings).flatMap((name) => [name, `${name}_FILE`]),
    ),
  );
  const isOurs = (name: string) => known.has(name) || /_OIDC_/.test(name) || name.length < 8;
  return Object.keys(environment).flatMap((name) => {
    if (isOurs(name)) return [];
    const meant = [...known].find((other) => distance(name, other) <= 2);
    return meant
      ? [wrong('settings', `${name} is not a setting, and is ignored`, `did you mean ${meant}?`)]
      : [];
  });
}

/** Checks the secrets that a deployment makes for itself, and who can read the file with them. */
export function checkSecrets({ environment, folder }: Examined): Finding[] {
  const names = ['RPC_TOKEN', ...topology.flatMap(({ deploy }) => deploy.secrets ?? [])];
  const given = [...new Set(names)].flatMap((name): [string, string][] => {
    const value = environment[name];
    return value ? [[name, value]] : [];
  });
  const problems = given.flatMap(([name, value], index) => {
    const [equal] = given.slice(0, index).find(([, other]) => other === value) ?? [];
    const problem = equal ? `is the same as ${equal}` : weaknessOf(value);
    return problem ? [wrong('secrets', `${name} ${problem}`, makeSecret)] : [];
  });
  const file = join(folder, '.env');
  if (existsSync(file) && (statSync(file).mode & 0o004) !== 0) {
    const own = parseEnv(readFileSync(file, 'utf8'));
    if (names.some((name) => own[name]))
      problems.push(wrong('secrets', `every user of this machine can read ${file}`, `chmod 600 ${file}`));
  }
  return problems.length > 0 ? problems : [fine('secrets', `${given.length} set`)];
}

function weaknessOf(secret: string): string | undefined {
  if (placeholders.test(secret)) return 'is a placeholder that anybody can guess';
  if (Buffer.byteLength(secret) < secretBytesMin) return `is shorter than ${secretBytesMin} bytes`;
  return new Set(secret).size < charactersMin ? 'repeats few characters' : undefined;
}

/** Checks the addresses that people open: who can reach them, and whether links and cookies will work there. */
export async function checkAddresses(examined: Examined): Promise<Finding[]> {
  const { names, environment, suite } = examined;
  const findings: Finding[] = [];
  const isProduction = suite.NODE_ENV === 'production';
  if (!isProduction && !isLoopback(suite.HOST))
    findings.push(
      wrong(
        'addresses',
        `everybody who reaches ${suite.HOST} can use the demo accounts and read the mails`,
        'set NODE_ENV=production, or HOST=127.0.0.1',
      ),
    );
  const addresses = publicAddresses(examined);
  for (const [setting, url] of addresses) {
    const problem = await addressProblem(url, isProduction);
    if (problem)
      findings.push(
        wrong('addresses', `${setting} ${problem}`, `set it to the https:// address that people open`),
      );
  }
  const isProxied = addresses.some(([, { protocol }]) => protocol === 'https:');
  const proxies = names.includes('passwordless')
    ? ['TRUST_PROXY', 'PASSWORDLESS_TRUST_PROXY']
    : ['TRUST_PROXY'];
  for (const setting of isProxied ? proxies : [])
    if (!environment[setting])
      findings.push(
        wrong(
          'addresses',
          `${setting} is not set, so all people behind the proxy for TLS count as one client in every limit`,
          `set ${setting} to the address of the proxy, such as 127.0.0.1, or to the number of proxies`,
        ),
      );
  return findings.length > 0 ? findings : [fine('addresses', `${addresses.length} set`)];
}

/** Settings with a public address, by name. */
function publicAddresses({ names, environment, suite }: Examined): [string, URL][] {
  const settings = topology
    .filter(({ name }) => names.includes(name))
    .flatMap(({ deploy }) => Object.keys(deploy.addresses ?? {}));
  const sites = suite.SUITE_SITES ? [...parseSites(suite.SUITE_SITES)] : [];
  return [
    ...settings.map((name): [string, string | undefined] => [name, environment[name]]),
    ...sites.map(([name, url]): [string, string] => [`SUITE_SITES (${name})`, url]),
  ].flatMap(([name, text]): [string, URL][] => {
    const url = URL.parse(text ?? '');
    return url ? [[name, url]] : [];
  });
}

async function addressProblem(
  { protocol, hostname }: URL,
  isProduction: boolean,
): Promise<string | undefined> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isLoopback(host)) return isProduction ? `is ${host}, which only this machine can open` : undefined;
  if (protocol !== 'https:')
    return 'is not https://: passkeys do not work there, and others can read what is sent';
  const isKnown = await lookup(host).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOTFOUND',
  );
  return isKnown ? undefined : `names the host ${host}, which does not exist`;
}

/** Edits of one character between two words (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= other.length; at++) {
      const changed = (row[at - 1] as number) + (letter === other[at - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[at] as number) + 1, (next[at - 1] as number) + 1));
    }
    row = next;
  }
  return row[other.length] as number;
}
