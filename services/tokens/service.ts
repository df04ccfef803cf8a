import { availableParallelism } from 'node:os';
import { Gauge, type Registry } from 'prom-client';
import { Passwords, passwordCost } from '#kit/auth/passwords.ts';
import { RateLimiter } from '#kit/auth/rate-limiter.ts';
import type { Clock } from '#kit/clock.ts';
import { refuse } from '#kit/config.ts';
import { AppError } from '#kit/errors.ts';
import { parseTrustedProxies, type TrustedProxy } from '#kit/http/client-address.ts';
import { createHttpServer, type HttpServer } from '#kit/http/server.ts';
import { visitorOf } from '#kit/http/visitor.ts';
import { newSecret } from '#kit/ids.ts';
import type { Running, Service, ServiceContext } from '#kit/service.ts';
import { Accounts } from './accounts.ts';
import { addApi } from './api.ts';
import { createGuards } from './api-guard.ts';
import { Audit } from './audit.ts';
import { BreachedPasswords } from './breached-passwords.ts';
import { Lockout } from './lockout.ts';
import { NewPasswords } from './new-passwords.ts';
import { addPages } from './pages.ts';
import { PasswordHashes } from './password-hashes.ts';
import { chooseSecrets } from './secrets.ts';
import { Sessions } from './sessions.ts';
import { settings, type TokensConfig } from './settings.ts';
import { SignIns } from './sign-ins.ts';
import { Tokens } from './tokens.ts';
import { Users } from './users.ts';

const keysMax = 100_000;
const sweepMs = 1_000;
const serviceWord = 'octavo';

/** Accounts by password; access and refresh tokens. All in memory. */
export const tokens: Service<typeof settings> = {
  name: 'tokens',
  summary: 'Accounts by password, access and refresh tokens',
  settings,
  isSingle: true,
  start,
};

async function start(config: TokensConfig, context: ServiceContext): Promise<Running> {
  await using stack = new AsyncDisposableStack();
  const { clock, metrics } = context;
  const breached = await openBreached(config.BREACHED_PASSWORDS_FILE);
  if (breached) stack.use(breached);
  const state = createState(config, context, breached);
  const server = stack.use(await createServer(config, context, state.signIns));
  const { signIns, accounts, limiter, newPasswords } = state;
  const { app } = server;
  const guards = createGuards({ signIns, limiter, clock });
  addApi({ app, accounts, signIns, guards });
  const shared = { app, accounts, signIns, newPasswords, clock, visitorOf, limit: guards.limit };
  // What a cookie holds does not outlive the process, so its key need not either.
  addPages({ ...shared, secret: newSecret() }, config.SESSION_MAX_AGE_SECONDS);
  measure(state, metrics);
  const sweeping = setInterval(() => sweep(state, clock), sweepMs).unref();
  stack.defer(() => clearInterval(sweeping));
  const url = await server.listen();
  const owned = stack.move();
  return { url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

type State = ReturnType<typeof createState>;

function createState(
  config: TokensConfig,
  { clock, environment, log, metrics }: ServiceContext,
  breached: BreachedPasswords | undefined,
) {
  const locking = { threshold: config.LOCKOUT_THRESHOLD, lockMs: config.LOCKOUT_MS, keysMax, clock };
  const [lockout, confirmations] = [new Lockout(locking), new Lockout(locking)];
  const [users, sessions] = [new Users(config.MAX_USERS), new Sessions()];
  const secrets = chooseSecrets(config, environment, log);
  const tokens =
    secrets &&
    new Tokens({
      secrets,
      clock,
      issuer: config.JWT_ISSUER,
      audience: config.JWT_AUDIENCE ?? config.JWT_ISSUER,
      accessSeconds: config.ACCESS_TOKEN_TTL_SECONDS,
      refreshSeconds: config.REFRESH_TOKEN_TTL_SECONDS,
      sessionSecondsMax: config.SESSION_MAX_AGE_SECONDS,
    });
  // More at once than processors would only slow the other requests down.
  const running = Math.min(4, availableParallelism());
  const hashes = new PasswordHashes(
    new Passwords({ cost: passwordCost(config), running }),
    config.PASSWORD_PEPPER,
  );
  const words = [...new Set([serviceWord, config.JWT_ISSUER.toLowerCase()])];
  const newPasswords = new NewPasswords({ charactersMin: config.PASSWORD_MIN_LENGTH, words }, breached);
  const audit = new Audit(log, metrics);
  const signIns = new SignIns({ users, sessions, tokens, hashes, lockout, audit, clock });
  const accounts = new Accounts({
    users,
    sessions,
    signIns,
    hashes,
    newPasswords,
    confirmations,
    audit,
    clock,
  });
  const { RATE_LIMIT_MAX: requestsMax, RATE_LIMIT_WINDOW_MS: windowMs } = config;
  const limiter = requestsMax > 0 ? new RateLimiter({ requestsMax, windowMs, keysMax }) : undefined;
  return { users, sessions, lockout, confirmations, limiter, newPasswords, signIns, accounts };
}

function createServer(config: TokensConfig, context: ServiceContext, signIns: SignIns): Promise<HttpServer> {
  return createHttpServer({
    name: 'tokens',
    context,
    title: 'Password token service',
    description: 'Accounts by password; access and refresh tokens, which are exchanged, listed and revoked.',
    checks: {
      secrets: async () => {
        if (!signIns.canIssue) throw new AppError('unavailable', 'a key to sign tokens with is missing');
      },
    },
    errorBody: ({ code, message }) => ({ error: { code, message } }),
    errorTable: {
      precondition_failed: { status: 423, code: 'ACCOUNT_LOCKED' },
      unavailable: { status: 503, code: 'INTERNAL_ERROR' },
    },
    invalidBody: 'invalid_input',
    corsOrigin: config.CORS_ORIGIN,
    trustedProxy: trustedProxy(config.TRUST_PROXY),
    accessLog: 'info',
    limits: {
      bodyBytes: 10 * 1_024,
      headersTimeoutMs: 5_000,
      requestTimeoutMs: 10_000,
      keepAliveTimeoutMs: 5_000,
    },
  });
}

function trustedProxy(setting: string | undefined): TrustedProxy | undefined {
  try {
    return parseTrustedProxies(setting);
  } catch (error) {
    return refuse({ TRUST_PROXY: (error as Error).message }) as undefined;
  }
}

async function openBreached(path: string | undefined): Promise<BreachedPasswords | undefined> {
  if (path === undefined) return undefined;
  try {
    return await BreachedPasswords.open(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return refuse({ BREACHED_PASSWORDS_FILE: `cannot be read: ${code}` }) as undefined;
  }
}

function sweep({ sessions, lockout, confirmations, limiter }: State, clock: Clock): void {
  const nowMs = clock.now();
  sessions.sweep(nowMs);
  lockout.sweep();
  confirmations.sweep();
  limiter?.sweep(nowMs);
}

function measure({ users, sessions, lockout, limiter }: State, metrics: Registry): void {
  const sizes = { users, sessions, lockouts: lockout, limiter_keys: limiter };
  for (const [name, holder] of Object.entries(sizes)) {
    new Gauge({
      name: `tokens_${name}`,
      help: 'Entries held in memory.',
      registers: [metrics],
      collect() {
        this.set(holder?.size ?? 0);
      },
    });
  }
}
