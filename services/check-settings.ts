import { type Environment, inspectConfig, problemsOf, refuse, type Settings } from '#kit/config.ts';
import { requireTokenOffLoopback } from '#kit/rpc/index.ts';
import { type CheckContext, inspectService, type Service } from '#kit/service.ts';
import { checkTracing } from '#kit/tracing/open.ts';
import { loadServices, topology } from './index.ts';
import { suiteSettings } from './system.ts';

type Check = () => unknown;

/**
 * Throws one error that names every setting that is missing, invalid, or does not fit others: of the named services, and of those that
 * they call in process.
 */
export async function checkSettings(names: readonly string[], environment: Environment): Promise<void> {
  const suite = inspectConfig(suiteSettings, environment);
  const calls = topology
    .filter(({ name }) => names.includes(name))
    .flatMap(({ calls = {} }) => Object.entries(calls));
  const inProcess = calls.filter(([setting]) => !environment[setting]).map(([, { name }]) => name);
  const services = await loadServices([...names, ...inProcess]);
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

/** For the address of another service. */
function tokenCheck(config: SuiteConfig, address: string): Check {
  return () => {
    const { RPC_TOKEN: token, NODE_ENV: environment } = config;
    requireTokenOffLoopback({ tokenSetting: 'RPC_TOKEN', address, token, environment });
  };
}
