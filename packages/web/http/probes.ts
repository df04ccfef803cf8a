import { performance } from 'node:perf_hooks';
import type { Log } from '@octavo/core';
import { problemOf, Type } from '@octavo/core';
import type { HttpApp } from './access.ts';
import type { HttpServerOptions } from './options.ts';
import { answersDuringOverload } from './requests/overload.ts';

type Check = (signal: AbortSignal) => Promise<void>;
type Checks = Readonly<Partial<Record<string, Check>>>;

const timeoutMs = 400;
const freshMs = 1_000;

const healthSchema = {
  tags: ['Probes'],
  summary: 'Check that the process responds',
  description: 'Answers 200 as long as the process runs. It asks no database and no other service.',
  response: { 200: Type.Object({ status: Type.Literal('ok') }) },
};
const readinessSchema = {
  tags: ['Probes'],
  summary: 'Check that the service can work; names what fails',
  description:
    'Asks what the service needs. 503 names what fails, so that no traffic is sent here until it works again.',
  response: {
    200: verdicts('ready', 'ok'),
    503: verdicts('not_ready', 'failing: no answer within 400 ms'),
  },
};

/**
 * Adds `/health`, which says that the process answers, and `/readiness`, which says whether it can work and which optional parts
 * do not answer.
 */
export function addProbes(app: HttpApp, options: HttpServerOptions, isStopping: () => boolean): void {
  const { checks = {}, optionalChecks = {}, namesOptionalChecks = false, context } = options;
  const required = cached(checks, context.log);
  const optional = cached(optionalChecks, context.log);
  const probe = { access: 'public', config: answersDuringOverload } as const;
  if (!options.hasOwnHealth) {
    app.get('/health', { ...probe, schema: healthSchema }, async () => ({ status: 'ok' as const }));
  }
  app.get('/readiness', { ...probe, schema: readinessSchema }, async (_request, reply) => {
    const [verdicts, others] = await Promise.all([verdictsOf(required), verdictsOf(optional)]);
    const isReady = !isStopping() && Object.values(verdicts).every((verdict) => verdict === 'ok');
    const status = isReady ? 'ready' : isStopping() ? 'stopping' : 'not_ready';
    const named = Object.entries(others).filter(([, verdict]) => namesOptionalChecks || verdict !== 'ok');
    const integrations = named.length > 0 ? { integrations: Object.fromEntries(named) } : {};
    return reply.code(isReady ? 200 : 503).send({ status, checks: verdicts, ...integrations });
  });
}

function cached(checks: Checks, log: Log): ReadinessCheck[] {
  return Object.entries(checks).flatMap(([name, check]) =>
    check ? [new ReadinessCheck(name, check, log)] : [],
  );
}

async function verdictsOf(checks: readonly ReadinessCheck[]): Promise<Record<string, string>> {
  const verdicts = await Promise.all(checks.map(async (check) => [check.name, await check.verdict()]));
  return Object.fromEntries(verdicts);
}

/** Runs a check at most once a second, never twice at the same time, and returns its result within its timeout. */
export class ReadinessCheck {
  readonly name: string;
  readonly #check: Check;
  readonly #log: Log;
  #startMs = Number.NEGATIVE_INFINITY;
  #isRunning = false;
  #verdict: Promise<string> = Promise.resolve('ok');
  #last = 'ok';

  constructor(name: string, check: Check, log: Log) {
    this.name = name;
    this.#check = check;
    this.#log = log;
  }

  /** `ok`, or `failing: ` and the problem. */
  verdict(): Promise<string> {
    const nowMs = performance.now();
    if (!this.#isRunning && nowMs - this.#startMs >= freshMs) {
      this.#startMs = nowMs;
      this.#isRunning = true;
      this.#verdict = this.#run();
    }
    return this.#verdict;
  }

  async #run(): Promise<string> {
    const signal = AbortSignal.timeout(timeoutMs);
    const late = new Promise<string>((resolve) => {
      signal.addEventListener('abort', () => resolve(`failing: no answer within ${timeoutMs} ms`));
    });
    const verdict = await Promise.race([this.#attempt(signal), late]);
    if (verdict !== this.#last) this.#log.warn({ check: this.name, verdict }, 'readiness changed');
    this.#last = verdict;
    return verdict;
  }

  async #attempt(signal: AbortSignal): Promise<string> {
    try {
      await this.#check(signal);
      return 'ok';
    } catch (error) {
      this.#log.debug({ err: error, check: this.name }, 'check failed');
      return `failing: ${problemOf(error)}`;
    } finally {
      this.#isRunning = false;
    }
  }
}

function verdicts(status: string, verdict: string) {
  const checks = Type.Record(Type.String(), Type.String());
  return Type.Object(
    { status: Type.String(), checks, integrations: Type.Optional(checks) },
    { examples: [{ status, checks: { database: verdict } }] },
  );
}
