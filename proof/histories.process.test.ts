import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment, Settings } from '@octavo/core';
import type { Service } from '@octavo/data/service';
import { openServiceAccounts } from '@octavo/people/accounts';
import { testContext, testFolder } from '@octavo/testing';
import type { Gate } from '@octavo/testing/engines';
import { type SmtpSink, startSmtpSink, testDatabaseUrl } from '@octavo/testing/engines';
import { polls } from '../services/polls/service.ts';
import { jobQueue, mailQueue, watchClaims } from './histories/audit.ts';
import { ledgers } from './histories/ledgers.ts';
import { jobs, mails } from './histories/queues.ts';
import { type Cluster, certainly, Replica, type Workload } from './histories/replicas.ts';
import { sessions } from './histories/sessions.ts';
import { votes } from './histories/votes.ts';

/** `LONG_TESTS=1` lets processes fail for two minutes. */
const isLong = Boolean(process.env.LONG_TESTS);
const faultRounds = isLong ? 12 : 1;
const pauseMs = 60;
const faultMs = 700;
/** Steps of all clients together while nothing fails. Two replicas fail in more ways, so with less between. */
const stepsBetween = (replicas: number) => (isLong ? 400 : replicas > 1 ? 60 : 150);

const names = ['polls', 'passwordless', 'budgets'];
const password = 'ferries wait in fog';

const postgres = await testDatabaseUrl();

describe('what clients saw is what the contracts allow', { concurrency: true }, () => {
  test('on SQLite, where the process is killed', async () => {
    const folder = testFolder('histories');
    await run({ OCTAVO_DATA: folder }, { count: 1, store: { folder }, hasJobs: isLong });
  });

  test('on PostgreSQL, where one of two is killed, cut off or frozen', { skip: postgres.skip }, async () => {
    const databaseUrl = postgres.url ?? '';
    await run({ DATABASE_URL: databaseUrl }, { count: 2, store: { databaseUrl }, hasJobs: true });
  });
});

async function run(
  place: Environment,
  { count, store, hasJobs }: { count: number; store: Cluster['store']; hasJobs: boolean },
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const sink = stack.use(await startSmtpSink());
  const environment = { ...settingsOf(sink), ...place };
  await addAdministrator(environment);
  const replicas: Replica[] = [];
  for (let index = 0; index < count; index++) {
    const own = { OCTAVO_DATA: testFolder('histories'), ...environment };
    replicas.push(stack.use(await Replica.start(hasJobs ? ['gateway', ...names] : names, own)));
  }
  const cluster = { replicas, store };
  const token = await tokenOf(replicas[0]?.url('polls') ?? '');
  await watchClaims(store, mailQueue);
  if (hasJobs) await watchClaims(store, jobQueue);
  for (let round = 0; round < faultRounds; round++) {
    const workloads = [
      await votes(cluster, token),
      await sessions(cluster),
      await ledgers(cluster),
      mails(cluster, sink),
      ...(hasJobs ? [await jobs(cluster, password)] : []),
    ];
    await using load = new Load(workloads);
    await letFail(replicas, load);
    await load.stop();
    const problems = await Promise.all(workloads.map((workload) => workload.check()));
    assert.deepEqual(problems.flat(), []);
  }
}

/** Clients that work until they are told to stop. */
class Load implements AsyncDisposable {
  #steps = 0;
  readonly #over = new AbortController();
  readonly #clients: Promise<unknown>;
  #failure: unknown;

  constructor(workloads: readonly Workload[]) {
    const clients = workloads.flatMap((workload) => workload.clients);
    this.#clients = Promise.all(clients.map((step) => this.#repeat(step))).catch((error: unknown) => {
      this.#failure = error;
    });
  }

  /** Resolves after `count` more steps of all clients together. */
  async steps(count: number): Promise<void> {
    const end = this.#steps + count;
    while (this.#steps < end && !this.#failure) await delay(20);
    if (this.#failure) throw this.#failure;
  }

  /** Throws what a client threw. */
  async stop(): Promise<void> {
    await this[Symbol.asyncDispose]();
    if (this.#failure) throw this.#failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#clients;
  }

  async #repeat(step: () => Promise<void>): Promise<void> {
    while (!this.#over.signal.aborted) {
      await step();
      this.#steps++;
      await delay(pauseMs);
    }
  }
}

/** Replicas fail one after another; in the quick mode each fails in one way. */
async function letFail(replicas: readonly Replica[], load: Load): Promise<void> {
  const steps = stepsBetween(replicas.length);
  await load.steps(steps);
  for (const [index, replica] of replicas.entries()) {
    if (replica.gate && (isLong || index === 0)) await cutAndFreeze(replica.gate, () => load.steps(steps));
    if (isLong || !replica.gate || index > 0) await replica.crash();
    await load.steps(steps);
  }
}

async function cutAndFreeze(gate: Gate, work: () => Promise<void>): Promise<void> {
  gate.cut();
  await delay(faultMs);
  gate.open();
  await work();
  gate.freeze();
  await delay(faultMs);
  gate.thaw();
}

function settingsOf(sink: SmtpSink) {
  return {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
    JOB_LEASE_MS: '1500',
    GATEWAY_JWT_SECRET: 'a secret of all replicas, long enough',
    AUTHZ_SECRET: 'another secret of all replicas, long enough',
    DEMO_ADMIN_PASSWORD: password,
    DEMO_EDITOR_PASSWORD: password,
    DEMO_VIEWER_PASSWORD: password,
    POLLS_SECRET: 'a secret of all replicas, long enough',
    JWT_SECRET: 'a secret of all replicas, long enough',
    GRPC_PORT: '0',
    BUDGETS_RATE_LIMIT_PER_MINUTE: '0',
    BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: '0',
    PASSWORDLESS_JWT_SECRET: 'a secret of all replicas, long enough',
    PASSWORDLESS_MAGIC_LINK_BASE_URL: 'http://localhost:3003/verify/magic',
    PASSWORDLESS_SMTP_HOST: '127.0.0.1',
    PASSWORDLESS_SMTP_PORT: String(sink.port),
    PASSWORDLESS_MAIL_LEASE_SECONDS: '2',
    PASSWORDLESS_MAIL_POLL_SECONDS: '1',
    PASSWORDLESS_LIMIT_POST_PER_IP: '0',
    PASSWORDLESS_LIMIT_MAGIC_PER_IP: '0',
    PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS: '0',
    PASSWORDLESS_LIMIT_ENROLL_PER_IP: '0',
    PASSWORDLESS_LIMIT_VERIFY_PER_IP: '0',
    PASSWORDLESS_LIMIT_REFRESH_PER_IP: '0',
  };
}

async function addAdministrator(environment: Environment): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const context = testContext('polls', { dataFolder: environment.OCTAVO_DATA ?? testFolder('polls') });
  const service = polls as unknown as Service<Settings, never>;
  const accounts = await openServiceAccounts(service, { environment, context, stack });
  await accounts.create({ username: 'alice', password, isStaff: true, isSuperuser: true });
}

async function tokenOf(url: string): Promise<string> {
  const body = { username: 'alice', password };
  return (await certainly(() => url, '/api/token/', { body })).json.token;
}
