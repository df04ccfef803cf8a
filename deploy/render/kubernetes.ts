import type { Entry } from '../../apps/octavo/system.ts';
import { fill, publicOf, type Site, siteList } from './sites.ts';

const domain = 'octavo.example';
/** Settings that the Secret holds for whichever services have them. */
const sharedSecrets = [
  'DATABASE_URL',
  'NATS_URL',
  'RPC_TOKEN',
  'SMTP_PASSWORD',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
];

/** The manifests, by file name. */
export function renderKubernetes(sites: readonly Site[]): Map<string, string> {
  const own = sites.map((site): [string, string] => [`${site.name}.yaml`, manifestOf(site)]);
  const rest = ['config.yaml', 'ingress.yaml', 'network.yaml'];
  const [open, sticky] = [false, true].map((isSticky) =>
    publicOf(sites)
      .filter(({ deploy }) => (deploy.isSticky ?? false) === isSticky)
      .map(ruleOf)
      .join('\n'),
  );
  const resources = [...own.map(([file]) => file), ...rest].map((file) => `- ${file}`).join('\n');
  return new Map([
    ...own,
    ['config.yaml', fill('config.yaml', { addresses: addressesOf(sites) })],
    ['ingress.yaml', fill('ingress.yaml', { hosts: open ?? '', stickyHosts: sticky ?? '' })],
    ['kustomization.yaml', fill('kustomization.yaml', { resources })],
  ]);
}

function manifestOf(site: Site): string {
  const { name, port, isSingle, grpc, deploy } = site;
  const deployment = fill('deployment.yaml', {
    name,
    port,
    livePath: deploy.livePath ?? '/health',
    replicas: isSingle
      ? '# Its state is in memory: one process, and a restart forgets it.\nreplicas: 1'
      : 'replicas: 2',
    strategy: isSingle
      ? 'strategy: { type: Recreate }'
      : 'strategy:\n  type: RollingUpdate\n  rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }',
    grpcContainerPort: grpc ? `- { name: grpc, containerPort: ${grpc.port} }` : '',
    environment: environmentOf(site).join('\n'),
  });
  const isReached = deploy.host !== undefined || site.isCalled;
  return [
    deployment,
    isReached ? serviceOf(site) : '',
    isSingle ? '' : fill('disruption-budget.yaml', { name }),
  ].join('');
}

function serviceOf({ name, port, isCalled, grpc, deploy }: Site): string {
  const headless =
    '# One record a pod: callers spread over them all, and look them up again every few seconds.\nclusterIP: None';
  const sticky =
    '# Only for Socket.IO: its polling needs the same process for each request, and a socket that comes back finds there what it missed.\nsessionAffinity: ClientIP';
  return fill('service.yaml', {
    name,
    port,
    access: [isCalled && headless, deploy.isSticky && sticky].filter(Boolean).join('\n'),
    grpcServicePort: grpc ? `- { name: grpc, port: ${grpc.port}, targetPort: grpc }` : '',
  });
}

/** Settings beside those of the ConfigMap, which every pod has. */
function environmentOf({ port, settings, backends, deploy, proxySetting }: Site): string[] {
  const isRemote = (name: string) => name === 'RPC_TOKEN' && backends.length > 0;
  const secrets = sharedSecrets.filter((name) => name in settings || isRemote(name));
  const plain = [
    ['PORT', port],
    ...backends.map((each) => [each.setting, `${each.name}:${each.port}`]),
    ...Object.entries(deploy.settings ?? {}),
    ...(proxySetting && proxySetting !== 'TRUST_PROXY' ? [[proxySetting, '1']] : []),
  ];
  return [
    ...plain.map(([name, value]) => `- { name: ${name}, value: '${value}' }`),
    ...[...secrets, ...(deploy.secrets ?? [])].map(
      (name) => `- { name: ${name}, valueFrom: { secretKeyRef: { name: octavo, key: ${name} } } }`,
    ),
  ];
}

function addressesOf(sites: readonly Site[]): string {
  const own = sites.flatMap(({ addresses }) =>
    addresses.map(({ setting, of, path }) => `${setting}: ${urlOf(of)}${path}`),
  );
  return [...new Set(own), `SUITE_SITES: ${siteList(sites, urlOf)}`].join('\n');
}

function ruleOf(site: Site): string {
  return `- host: ${hostOf(site)}
  http:
    paths:
      - path: /
        pathType: Prefix
        backend: { service: { name: ${site.name}, port: { name: http } } }`;
}

function hostOf({ deploy: { host } }: Entry): string {
  return host ? `${host}.${domain}` : domain;
}

function urlOf(site: Entry): string {
  return `https://${hostOf(site)}`;
}
