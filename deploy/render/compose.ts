import { composePort, fill, publicOf, type Site, siteList } from './sites.ts';

/** Names of secrets in `deploy/.env`, where the setting says too little beside those of other services. */
const secretNames: Readonly<Record<string, string>> = { JWT_SECRET: 'BUDGETS_JWT_SECRET' };

/** `deploy/compose.yaml`. */
export function renderCompose(sites: readonly Site[]): string {
  const open = publicOf(sites);
  const ports = open.map(composePort);
  const [first, last] = [Math.min(...ports), Math.max(...ports)];
  const grpc = sites.flatMap(({ grpc }) => (grpc ? [`'${grpc.port}:${grpc.port}'`] : []));
  return fill('compose.yaml', {
    services: sites.map((site) => serviceOf(site, sites)).join('\n\n'),
    ports: [`'${first}-${last}:${first}-${last}'`, ...grpc].join(', '),
    portsInWords: `${first} to ${last}`,
    proxied: open.map(({ name }) => `${name}: { condition: service_healthy }`).join('\n'),
  });
}

/** `deploy/caddy/Caddyfile`: a port for each public service. */
export function renderCaddy(sites: readonly Site[]): string {
  const ports = publicOf(sites).map((site) => `:${composePort(site)} {\n\timport service ${site.name}\n}`);
  const grpc = sites.flatMap(({ name, grpc }) =>
    grpc ? [`:${grpc.port} {\n\timport grpc ${name} ${grpc.port}\n}`] : [],
  );
  const [{ grpc: first } = {}] = sites.filter(({ grpc }) => grpc);
  return fill('Caddyfile', { sites: [...ports, ...grpc].join('\n'), grpcAddress: `:${first?.port}` });
}

/** `deploy/prometheus/prometheus.yaml`: a job for each service. */
export function renderPrometheus(sites: readonly Site[]): string {
  const jobs = sites.map(
    ({ name, port }) =>
      `- job_name: octavo-${name}\n  dns_sd_configs: [{ names: [${name}], type: A, port: ${port} }]`,
  );
  return fill('prometheus.yaml', { jobs: jobs.join('\n') });
}

/** `deploy/example.env`: a line for each secret. */
export function renderExample(sites: readonly Site[]): string {
  const secrets = sites.flatMap(({ deploy }) => deploy.secrets ?? []).map(secretName);
  return fill('example.env', { secrets: [...new Set(secrets)].map((name) => `${name}=`).join('\n') });
}

function serviceOf(site: Site, sites: readonly Site[]): string {
  const { name, isSingle } = site;
  const dependencies = dependenciesOf(site);
  const merged = ['*environment', has(site, 'DATABASE_URL') && '*database', has(site, 'NATS_URL') && '*work'];
  const anchors = merged.filter(Boolean);
  return [
    `${name}:`,
    '  <<: *octavo',
    `  command: [serve, ${name}]`,
    ...(isSingle
      ? [
          '  # Its state is in memory: one process, and a restart forgets it.',
          '  deploy: { replicas: 1, resources: { limits: { memory: 1G } } }',
        ]
      : []),
    '  environment:',
    `    <<: ${anchors.length > 1 ? `[${anchors.join(', ')}]` : anchors[0]}`,
    ...environmentOf(site, sites).map(([key, value]) => `    ${key}: ${value}`),
    ...(dependencies.length > 0 ? ['  depends_on:'] : []),
    ...dependencies.map(([each, condition]) => `    ${each}: { condition: service_${condition} }`),
  ].join('\n');
}

function environmentOf(site: Site, sites: readonly Site[]): [string, string][] {
  const { deploy, port, backends, addresses, proxySetting } = site;
  return [
    ['PORT', `'${port}'`],
    ...backends.map((each): [string, string] => [each.setting, `${each.name}:${each.port}`]),
    ...(deploy.secrets ?? []).map((name): [string, string] => [name, `\${${secretName(name)}:?}`]),
    ...addresses.map(({ setting, of, path }): [string, string] => [setting, `${urlOf(of)}${path}`]),
    ...(has(site, 'S3_BUCKET') ? objectStore : []),
    ...(has(site, 'SMTP_HOST') ? mailServer(site) : []),
    ...(site.deploy.host === undefined ? [] : [['SUITE_SITES', siteList(sites, urlOf)] as [string, string]]),
    ...Object.entries(deploy.settings ?? {}).map(([name, value]): [string, string] => [name, quoted(value)]),
    ...(proxySetting ? [[proxySetting, `'1'`] as [string, string]] : []),
    // In memory here, with the rest of /data.
    ...(has(site, 'EXPORT_SPILL_MIB') ? [['EXPORT_SPILL_MIB', `'256'`] as [string, string]] : []),
  ];
}

const objectStore: [string, string][] = [
  ['S3_ENDPOINT', 'http://minio:9000'],
  ['S3_BUCKET', 'octavo'],
  ['S3_ACCESS_KEY_ID', 'octavo'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Compose fills it in
  ['S3_SECRET_ACCESS_KEY', '${S3_SECRET_ACCESS_KEY:?}'],
];

/** The mail catcher has no TLS. */
function mailServer({ settings }: Site): [string, string][] {
  const insecure = Object.keys(settings).filter((name) => name.endsWith('_SMTP_INSECURE'));
  return [
    ['SMTP_HOST', 'mail'],
    ['SMTP_PORT', `'1025'`],
    ...insecure.map((name): [string, string] => [name, `'true'`]),
  ];
}

function dependenciesOf(site: Site): [string, string][] {
  return [
    ...site.backends.map(({ name }): [string, string] => [name, 'healthy']),
    ...(has(site, 'S3_BUCKET') ? [['bucket', 'completed_successfully'] as [string, string]] : []),
    ...(has(site, 'DATABASE_URL') ? [['postgres', 'healthy'] as [string, string]] : []),
    ...(has(site, 'NATS_URL') ? [['nats', 'healthy'] as [string, string]] : []),
    ...(has(site, 'SMTP_HOST') ? [['mail', 'started'] as [string, string]] : []),
  ];
}

function has({ settings }: Site, name: string): boolean {
  return name in settings;
}

function secretName(setting: string): string {
  return secretNames[setting] ?? setting;
}

function urlOf(site: Parameters<typeof composePort>[0]): string {
  return `http://localhost:${composePort(site)}`;
}

/** A value that YAML reads as text. */
function quoted(value: string): string {
  return /^(on|off|yes|no|true|false|null|[\d.]+)?$/i.test(value) ? `'${value}'` : value;
}
