import { existsSync, readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import type { DatabaseOptions } from '@octavo/data';
import { sqliteFile } from '@octavo/data';
import { connectionOptions } from '@octavo/data/nats';
import { openS3Store } from '@octavo/data/objects';
import {
  connectionsOfProcess,
  PostgresPool,
  processNames,
  requestTimeouts,
  startError,
} from '@octavo/data/postgres';
import { inspectService } from '@octavo/data/service';
import { openSmtpMailer, parseSender } from '@octavo/mail';
import { loadServices } from '../../index.ts';
import { databasesOf } from '../data/databases.ts';
import { type Examined, examine, type Finding, fine, wrong } from './finding.ts';

/** Tokens and leases have lifetimes of minutes; some are judged by the clock of the database, some by that of this machine. */
const skewMsMax = 5_000;
/** A larger file takes minutes to read. */
const checkedBytesMax = 2 * 1024 ** 3;
const brokerMs = 3_000;

type Values = Readonly<Record<string, unknown>>;

/** Checks the databases, the broker, the bucket and the mail server that the services use. */
export async function checkEngines(examined: Examined): Promise<Finding[]> {
  const configs = await configsOf(examined);
  const value = (name: string) => configs.map((config) => config[name]).find(Boolean) as string | undefined;
  const findings = await Promise.all([
    checkDatabases(examined),
    checkBroker(value('NATS_URL')),
    checkBucket(value),
    ...mailServers(configs).map((config) => checkMailServer(config)),
  ]);
  return [...findings.flat(), ...checkSenders(configs)];
}

/** The settings of each service, and of those that it calls in process. */
async function configsOf({ names, environment }: Examined): Promise<Values[]> {
  const all = names.includes('gateway') ? [...names, 'posts', 'authz'] : names;
  const services = await loadServices(all);
  return services.map((service) => inspectService(service, environment).config ?? {});
}

async function checkDatabases({ names, environment, clock }: Examined): Promise<Finding[]> {
  const all = names.includes('gateway') ? [...names, 'posts', 'authz'] : names;
  const databases = await databasesOf(all, environment, silentLog);
  const servers = new Map(databases.flatMap((each) => (each.url ? [[each.url, each]] : [])));
  const files = databases.filter(({ url }) => !url).map(checkFile);
  const found = await Promise.all(Array.from(servers, ([url, options]) => checkServer(url, options, clock)));
  return [...files.flat(), ...found];
}

/** A file that was copied while its service wrote to it is often damaged. */
function checkFile(options: DatabaseOptions): Finding[] {
  const file = sqliteFile(options);
  if (!existsSync(file) || statSync(file).size === 0) return [];
  const subject = `database ${options.name}`;
  if (statSync(file).size > checkedBytesMax) return [fine(subject, 'too large to be read here')];
  const problem = damageOf(file);
  if (!problem) return [fine(subject, 'SQLite, not damaged')];
  return [
    wrong(
      subject,
      `${file} is damaged (${problem}), as a copy of a folder in use is`,
      'restore a backup: "npx octavo restore FILE --force"; make copies with "npx octavo backup FILE" only',
    ),
  ];
}

function damageOf(file: string): string | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    const [first] = database.prepare('PRAGMA quick_check(1)').all();
    const verdict = Object.values(first ?? {})[0];
    return verdict === 'ok' ? undefined : String(verdict).split('\n').at(-1);
  } catch (error) {
    return (error as Error).message;
  } finally {
    database?.close();
  }
}

function checkServer(
  url: string,
  { pooler = 'none', connections }: DatabaseOptions,
  clock: Clock,
): Promise<Finding> {
  const fix = 'start the server, or correct DATABASE_URL and the rights of its role';
  return examine('PostgreSQL', fix, async () => {
    try {
      const pool = { url, pooler, max: 1, timeouts: requestTimeouts, log: silentLog };
      await using server = new PostgresPool(pool);
      const { rows } = await server.use((client) => client.query<ServerState>(serverState));
      const { ms, connections: most, processes } = rows[0] as ServerState;
      checkClock(clock.now() - ms);
      const fine = `${new URL(url).host} responds, and its clock agrees`;
      // A pooler has limits of its own, and shares out those of the server.
      if (pooler !== 'none') return fine;
      return `${fine}; ${checkConnections({ each: connectionsOfProcess(connections), processes, most })}`;
    } catch (error) {
      throw startError(error, url) ?? error;
    }
  });
}

/** The clock, the connections that the server lets in, and the processes that have some now. */
interface ServerState {
  readonly ms: number;
  readonly connections: number;
  readonly processes: number;
}

const serverState = `SELECT round(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections,
  (SELECT count(DISTINCT application_name) FROM pg_stat_activity
   WHERE application_name LIKE '${processNames}' AND pid <> pg_backend_pid()) AS processes`;

/** Throws if the processes that run, or one where none does, may take more connections than the server lets in. */
export function checkConnections({ each, processes, most }: Connections): string {
  const running = Math.max(1, processes);
  const room = Math.floor(most / each);
  if (running <= room) return `it has connections for ${room} processes`;
  const who = processes > 1 ? `${processes} processes are connected, and each takes` : 'A process takes';
  throw new AppError(
    'unavailable',
    `${who} up to ${each} connections, but PostgreSQL lets ${most} in; raise max_connections and restart it, or lower DATABASE_CONNECTIONS`,
  );
}

interface Connections {
  /** Most connections of a process. */
  readonly each: number;
  readonly processes: number;
  /** Most connections of the server. */
  readonly most: number;
}

function checkClock(skewMs: number): void {
  if (Math.abs(skewMs) <= skewMsMax) return;
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const direction = skewMs > 0 ? 'ahead of' : 'behind';
  throw new AppError(
    'unavailable',
    `the clock of this machine is ${seconds} s ${direction} that of PostgreSQL, so tokens and leases end at the wrong time; synchronize both, as with "timedatectl set-ntp true"`,
  );
}

async function checkBroker(url: string | undefined): Promise<Finding[]> {
  if (!url) return [];
  const [host] = url.split(',').map((each) => URL.parse(each)?.host ?? '');
  const fix = 'start NATS with JetStream ("nats-server --jetstream"), or correct NATS_URL';
  return [
    await examine('NATS', fix, async () => {
      const { connect } = await import('@nats-io/transport-node');
      const { jetstreamManager } = await import('@nats-io/jetstream');
      const options = { ...connectionOptions({ url, name: 'doctor' }), reconnect: false, timeout: brokerMs };
      const connection = await connect(options).catch((cause: Error) => {
        throw new AppError('unavailable', `${host} cannot be used: ${cause.message}`, { cause });
      });
      try {
        await jetstreamManager(connection, { timeout: brokerMs });
        return `${host} responds, with JetStream`;
      } catch (cause) {
        const text = `${host} responds, but JetStream does not: ${(cause as Error).message}`;
        throw new AppError('unavailable', text, { cause });
      } finally {
        await connection.close();
      }
    }),
  ];
}

async function checkBucket(value: (name: string) => string | undefined): Promise<Finding[]> {
  const bucket = value('S3_BUCKET');
  if (!bucket) return [];
  const [accessKeyId, secretAccessKey] = [value('S3_ACCESS_KEY_ID'), value('S3_SECRET_ACCESS_KEY')];
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  const endpoint = value('S3_ENDPOINT');
  const fix = 'create the bucket, or correct S3_ENDPOINT, S3_BUCKET, S3_REGION and the keys';
  return [
    await examine('S3', fix, async () => {
      await using store = await openS3Store({
        endpoint,
        bucket,
        region: value('S3_REGION') ?? 'us-east-1',
        credentials,
      });
      try {
        await store.ping();
      } catch (error) {
        throw new AppError('unavailable', `${bucket} ${bucketProblem((error as Error).cause)}`, {
          cause: error,
        });
      }
      return `${bucket} can be used`;
    }),
  ];
}

function bucketProblem(error: unknown): string {
  const { $metadata, message } = (error ?? {}) as {
    $metadata?: { httpStatusCode?: number };
    message?: string;
  };
  const status = $metadata?.httpStatusCode;
  if (status === 404) return 'does not exist';
  if (status !== undefined) return `refuses these keys, or this region (status ${status})`;
  return `cannot be reached: ${message ?? 'no answer'}`;
}

interface MailServer {
  readonly prefix: string;
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly insecure: boolean;
  readonly authorities: string | undefined;
}

/** Returns each mail server once. */
function mailServers(configs: readonly Values[]): MailServer[] {
  const servers = configs.flatMap((config): MailServer[] => {
    const prefix = config.PASSWORDLESS_SMTP_HOST ? 'PASSWORDLESS_' : '';
    const of = (name: string) => config[`${prefix}SMTP_${name}`] as string | undefined;
    const host = of('HOST');
    const file = of('CA_FILE');
    if (!host) return [];
    const insecure = Object.entries(config).some(([name, value]) => name.endsWith('_SMTP_INSECURE') && value);
    return [
      {
        prefix,
        host,
        port: Number(of('PORT')),
        username: of('USERNAME'),
        password: of('PASSWORD'),
        insecure,
        authorities: file && readFileSync(file, 'utf8'),
      },
    ];
  });
  return [...new Map(servers.map((server) => [`${server.host}:${server.port}`, server])).values()];
}

async function checkMailServer({ prefix, username, password, ...server }: MailServer): Promise<Finding[]> {
  const place = `${server.host}:${server.port}`;
  const credentials = username && password ? { username, password } : undefined;
  const fix = `correct ${['HOST', 'PORT', 'USERNAME', 'PASSWORD'].map((name) => `${prefix}SMTP_${name}`).join(', ')}`;
  return [
    await examine('mail server', fix, async () => {
      await using mailer = await openSmtpMailer({ ...server, credentials });
      await mailer.ping().catch((cause: Error) => {
        throw new AppError('unavailable', `${place} takes no mail: ${cause.message}`, { cause });
      });
      return `${place} takes mail`;
    }),
  ];
}

/** Mail servers refuse, or mark as spam, what comes from `no-reply@localhost`. */
function checkSenders(configs: readonly Values[]): Finding[] {
  const problems = configs
    .filter((config) => config.SMTP_HOST || config.PASSWORDLESS_SMTP_HOST)
    .flatMap((config) =>
      Object.entries(config).filter(
        ([name, value]) => /_(MAIL|EMAIL)_FROM$/.test(name) && isLocal(String(value)),
      ),
    );
  return [...new Set(problems.map(([name]) => name))].map((name) =>
    wrong(
      'mail server',
      `${name} is an address at localhost, which mail servers refuse or mark as spam`,
      `set ${name} to an address of your own domain, such as "Octavo <no-reply@example.com>"`,
    ),
  );
}

function isLocal(sender: string): boolean {
  try {
    return parseSender(sender).address.endsWith('@localhost');
  } catch {
    return false;
  }
}
