import type { Log } from '@octavo/core';
import { type Environment, inspectConfig, problemsOf, refuse, type Settings } from '@octavo/core';
import { checkTracing } from '@octavo/core/tracing';
import { type CheckContext, inspectService, type Service } from '@octavo/data/service';
import { requireTokenOffLoopback } from '@octavo/rpc';
import { loadServices, topology } from './index.ts';
import { suiteSettings } from './suite-settings.ts';
import { withFormerNames } from './system.ts';

type Check = () => unknown;

/** Settings that services get at the start from the one sign-in of the suite. Its own are not known before. */
const ownProvider = {
  OIDC_ISSUER: 'http://localhost',
  OIDC_CLIENT_ID: 'octavo',
  OIDC_CLIENT_SECRET: 'octavo',
};

/**
 * Throws one error that names every setting that is missing, invalid, or does not fit others: of the named services, and of those that
 * they call in process. With `hasOneSignIn` one of them signs people in for the others.
 */
export async function checkSettings(
  names: readonly string[],
  given: Environment,
  { hasOneSignIn = false } = {},
): Promise<void> {
  const suite = inspectConfig(suiteSettings, withFormerNames(given));
  const environment =
    hasOneSignIn && !given.OIDC_ISSUER && !suite.problems.OCTAVO_SSO && suite.config.OCTAVO_SSO
      ? { ...ownProvider, ...given }
      : given;
  const { calls, services } = await servicesOf(names, environment);
  const checks = services.flatMap((service) => {
    // A service that is only called does not listen.
    const port = names.includes(service.name) ? 0 : undefined;
    return checksOf(service, environment, () => contextOf(suite.config, port));
  });
  const addresses = calls.flatMap(([setting]) => environment[setting] ?? []);
  const shared = [
    () => checkTracing(suite.config),
    ...addresses.map((each) => tokenCheck(suite.config, each)),
  ];
  refuse({ ...problemsOf([...shared, ...checks]), ...suite.problems });
}

/** Settings of what services share: one set of them may stand in the environment of all, though some cannot use it. */
export const infrastructure = [
  'DATABASE_CONNECTIONS',
  'DATABASE_DIRECT_URL',
  'DATABASE_POOLER',
  'DATABASE_URL',
  'EVENT_STREAM',
  'MESSAGE_BROKER',
  'NATS_URL',
  'OBJECT_STORE',
  'S3_BUCKET',
  'S3_ENDPOINT',
  'SMTP_HOST',
] as const;

/** Names in one warning the infrastructure that is set, but that none of the services uses: the named ones, and those that they call in process. */
export async function warnOfUnused(
  names: readonly string[],
  environment: Environment,
  log: Log,
): Promise<void> {
  const { services } = await servicesOf(names, environment);
  const used = new Set(services.flatMap(({ settings }) => Object.keys(settings)));
  const isSet = (name: string) => Boolean(environment[name] || environment[`${name}_FILE`]);
  const settings = infrastructure.filter((name) => isSet(name) && !used.has(name));
  if (settings.length === 0) return;
  const [are, them] = settings.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const use = names.length === 1 ? `${names[0]} does` : `${list(names)} do`;
  log.warn({ settings }, `${list(settings)} ${are} set, but ${use} not use ${them}`);
}

function list(words: readonly string[]): string {
  return new Intl.ListFormat('en').format(words);
}

/** The named services and those that they call in process, and all calls by the setting of their address. */
async function servicesOf(names: readonly string[], environment: Environment) {
  const calls = topology
    .filter(({ name }) => names.includes(name))
    .flatMap(({ calls = {} }) => Object.entries(calls));
  const inProcess = calls.filter(([setting]) => !environment[setting]).map(([, { name }]) => name);
  return { calls, services: await loadServices([...names, ...inProcess]) };
}

function checksOf(
  service: Service<Settings, never>,
  environment: Environment,
  context: () => CheckContext,
): Check[] {
  const { config, problems } = inspectService(service, environment);
  return [() => config && refuse(service.problems(config, context())), () => refuse(problems)];
}

type SuiteConfig = ReturnType<typeof inspectConfig<typeof suiteSettings>>['config'];

function contextOf(config: SuiteConfig, port: number | undefined): CheckContext {
  const { NODE_ENV: environment, HOST: host, OCTAVO_DATA: dataFolder } = config;
  return { environment, host, port, dataFolder };
}

/** Check of a token for the address of another service. */
function tokenCheck(config: SuiteConfig, address: string): Check {
  return () => {
    const { RPC_TOKEN: token, NODE_ENV: environment } = config;
    requireTokenOffLoopback({ tokenSetting: 'RPC_TOKEN', address, token, environment });
  };
}
