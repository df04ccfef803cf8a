import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificate, opensslIsMissing, testFolder } from '@octavo/testing';
import {
  type Gate,
  mountDisk,
  mountingIsForbidden,
  natsIsMissing,
  openGate,
  type SmallDisk,
  type SmtpSink,
  startEmbeddedPostgres,
  startNats,
  startS3,
  startSmtpSink,
  type TestNats,
  type TestPostgres,
  type TestS3,
} from '@octavo/testing/engines';

/** An engine with a disk of its own and a gate between it and the services. */
export interface Engine<Server> {
  readonly server: Server;
  readonly gate: Gate;
  /** Undefined where no file system may be mounted. */
  readonly disk: SmallDisk | undefined;
}

/** Servers and disks below the services. On SQLite that is a disk and a mail server. */
export interface Engines extends AsyncDisposable {
  readonly postgres: Engine<TestPostgres> | undefined;
  readonly nats: Engine<TestNats> | undefined;
  readonly s3: Engine<TestS3> | undefined;
  readonly mail: { readonly sink: SmtpSink; readonly gate: Gate };
  /** Certificate of the gRPC of Budgets; undefined without openssl. */
  readonly certificate: Certificate | undefined;
  /** Folder of the services' own data. */
  readonly dataFolder: string;
  readonly dataDisk: SmallDisk | undefined;
  /** Settings with the addresses of the engines. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A certificate whose files are replaced while it is in use. */
export interface Certificate {
  /** Certificates that clients trust, those that are used later too. */
  readonly authorities: Buffer;
  /** Puts one into the files that ended yesterday. */
  end(): void;
  renew(): void;
}

const mebibyte = 1024 * 1024;

/** Starts a mail server, and with `hasServers` a PostgreSQL, a NATS and an S3 server. They end when they are disposed of. */
export async function startEngines({ hasServers }: { readonly hasServers: boolean }): Promise<Engines> {
  await using stack = new AsyncDisposableStack();
  const isMountable = mountingIsForbidden() === false;
  const diskOf = (sizeMiB: number) => (isMountable ? stack.use(mountDisk(sizeMiB * mebibyte)) : undefined);
  const gateTo = async (url: string) => stack.use(await openGate(new URL(url).host));
  const dataDisk = diskOf(1_024);
  const sink = stack.use(await startSmtpSink());
  const mail = { sink, gate: await gateTo(`smtp://127.0.0.1:${sink.port}`) };
  const servers = hasServers ? await startServers(stack, { diskOf, gateTo }) : undefined;
  const tls = opensslIsMissing() ? undefined : createCertificates();
  const { hostname, port } = new URL(`smtp://${mail.gate.address}`);
  const owned = stack.move();
  return {
    postgres: servers?.postgres,
    nats: servers?.nats,
    s3: servers?.s3,
    mail,
    certificate: tls?.certificate,
    dataFolder: dataDisk?.folder ?? testFolder('hard-day'),
    dataDisk,
    environment: { SMTP_HOST: hostname, SMTP_PORT: port, ...tls?.environment, ...servers?.environment },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function createCertificates() {
  const [files, ended, renewed] = [createCertificate(), createCertificate(-1), createCertificate()];
  const replaceBy = (other: typeof files) => {
    copyFileSync(other.certificate, files.certificate);
    copyFileSync(other.key, files.key);
  };
  const certificate: Certificate = {
    authorities: Buffer.concat([files, ended, renewed].map((each) => readFileSync(each.certificate))),
    end: () => replaceBy(ended),
    renew: () => replaceBy(renewed),
  };
  return {
    certificate,
    environment: {
      BUDGETS_GRPC_CERTIFICATE_FILE: files.certificate,
      BUDGETS_GRPC_KEY_FILE: files.key,
    },
  };
}

interface Ground {
  diskOf(sizeMiB: number): SmallDisk | undefined;
  gateTo(url: string): Promise<Gate>;
}

async function startServers(stack: AsyncDisposableStack, { diskOf, gateTo }: Ground) {
  const missing = natsIsMissing();
  if (missing) throw new Error(missing);
  const disks = { postgres: diskOf(1_024), nats: diskOf(256), s3: diskOf(1_024) };
  if (disks.postgres) chmodSync(disks.postgres.folder, 0o711);
  let stores = 0;
  const newStore = () => {
    if (!disks.nats) return testFolder('nats');
    const folder = join(disks.nats.folder, `store-${stores++}`);
    mkdirSync(folder);
    return folder;
  };
  const [postgres, nats, s3] = await Promise.all([
    startEmbeddedPostgres(disks.postgres?.folder),
    startNats(newStore),
    startS3(disks.s3?.folder),
  ]);
  stack.defer(() => postgres.stop());
  stack.defer(() => nats.kill());
  stack.use(s3);
  const [postgresGate, natsGate, s3Gate] = await Promise.all([
    gateTo(postgres.url),
    gateTo(nats.url),
    gateTo(s3.endpoint),
  ]);
  const databaseUrl = new URL(postgres.url);
  databaseUrl.host = postgresGate.address;
  return {
    postgres: { server: postgres, gate: postgresGate, disk: disks.postgres },
    nats: { server: nats, gate: natsGate, disk: disks.nats },
    s3: { server: s3, gate: s3Gate, disk: disks.s3 },
    environment: {
      DATABASE_URL: databaseUrl.href,
      NATS_URL: `nats://${natsGate.address}`,
      S3_ENDPOINT: `http://${s3Gate.address}`,
      S3_BUCKET: s3.bucket,
      S3_REGION: s3.region,
      S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    },
  };
}
