import { availableParallelism } from 'node:os';
import { Gauge, type Registry } from 'prom-client';
import { checkBreachedFile, openPasswordRules, type PasswordRules } from '#kit/auth/password-rules.ts';
import { Passwords, passwordCost } from '#kit/auth/passwords.ts';
import { RateLimiter } from '#kit/auth/rate-limiter.ts';
import { AppError } from '#kit/errors.ts';
import { limitRequests } from '#kit/http/rate-limit.ts';
import { createHttpServer, type HttpServer } from '#kit/http/server.ts';
import { newSecret } from '#kit/ids.ts';
import { defineService, type ServiceContext, type ServiceParts } from '#kit/service.ts';
import { Accounts } from './accounts.ts';
import { addApi } from './api.ts';
import { Audit } from './audit.ts';
import { Lockout } from './lockout.ts';
import { addPages } from './pages.ts';
import { addAccountPages } from './pages-account.ts';
import { addSignInPages } from './pages-sign-in.ts';
import { settings, type TokensConfig } from './settings.ts';
import { SignIns } from './sign-ins.ts';
import { Sessions, Users } from './store.ts';
import { checkSecrets, chooseSecrets, Tokens } from './tokens.ts';

const keysMax = 100_000;
const sweepMs = 1_000;
const serviceWord = 'octavo';

/** Accounts with passwords; access and refresh tokens. All in memory. */
export const tokens = defineService({
  name: 'tokens',
  summary: 'Accounts with passwords, access and refresh tokens',
  settings,
  checks: [checkSecrets, checkBreachedFile],
  isSingle: true,
  build,
});

async function build({ config, context, stack }: ServiceParts<typeof settings>) {
  const { clock } = context;
  const state = createState(config, context);
  const words = new Set([serviceWord, config.JWT_ISSUER.toLowerCase()]);
  const passwordRules = await openPasswordRules(config, [...words], stack);
  const { signIns, accounts } = createRules(config, context, state, passwordRules);
  const { app, listen } = stack.use(await createServer(config, context, signIns));
  const limit = limitRequests(state.limiter ? [{ name: 'auth', limiter: state.limiter }] : [], clock);
  addApi(app, { signIns, accounts, limit });
  const pages = { signIns, accounts, passwordRules, clock, limit };
  // Cookies hold tokens, which a restart makes invalid, so their key need not be kept either.
  const cookies = { secret: newSecret(), sessionSeconds: config.SESSION_MAX_AGE_SECONDS, clock, signIns };
  addPages(app, cookies, (routes) => {
    addSignInPages(routes, pages);
    addAccountPages(routes, pages);
  });
  measure(state, context.metrics);
  const sweeping = setInterval(() => sweep(state, clock.now()), sweepMs).unref();
  stack.defer(() => clearInterval(sweeping));
  return { url: await listen() };
}

type State = ReturnType<typeof createState>;

/** Everything that is held in memory. */
function createState(config: TokensConfig, { clock }: ServiceContext) {
  const locking = { threshold: config.LOCKOUT_THRESHOLD, lockMs: config.LOCKOUT_MS, keysMax, clock };
  const { RATE_LIMIT_MAX: requestsMax, RATE_LIMIT_WINDOW_MS: windowMs } = config;
  return {
    users: new Users(config.MAX_USERS),
    sessions: new Sessions(),
    lockout: new Lockout(locking),
    confirmations: new Lockout(locking),
    limiter: requestsMax > 0 ? new RateLimiter({ requestsMax, windowMs, keysMax }) : undefined,
  };
}

function createRules(
  config: TokensConfig,
  { clock, environment, log, metrics }: ServiceContext,
  { users, sessions, lockout, confirmations }: State,
  passwordRules: PasswordRules,
) {
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
  // More hashes at once than processors would only slow down other requests.
  const running = Math.min(4, availableParallelism());
  const passwords = new Passwords({ cost: passwordCost(config), running, pepper: config.PASSWORD_PEPPER });
  const audit = new Audit(log, metrics);
  const signIns = new SignIns({ users, sessions, tokens, passwords, lockout, audit, clock });
  const shared = { users, sessions, signIns, passwords, passwordRules, confirmations, audit, clock };
  return { signIns, accounts: new Accounts(shared) };
}

function createServer(config: TokensConfig, context: ServiceContext, signIns: SignIns): Promise<HttpServer> {
  return createHttpServer({
    name: 'tokens',
    context,
    title: 'Password token service',
    description: 'Accounts with passwords. Access and refresh tokens: issued, exchanged, listed and revoked.',
    checks: {
      secrets: async () => {
        if (!signIns.canIssue) throw new AppError('unavailable', 'there is no key for signing tokens');
      },
    },
    errorBody: ({ code, message }) => ({ error: { code, message } }),
    errorTable: {
      precondition_failed: { status: 423, code: 'ACCOUNT_LOCKED' },
      unavailable: { status: 503, code: 'INTERNAL_ERROR' },
    },
    invalidBody: 'invalid_input',
    corsOrigin: config.CORS_ORIGIN,
    trustedProxy: config.TRUST_PROXY,
    accessLog: 'info',
    limits: {
      bodyBytes: 10 * 1_024,
      headersTimeoutMs: 5_000,
      requestTimeoutMs: 10_000,
      keepAliveTimeoutMs: 5_000,
    },
  });
}

function sweep({ sessions, lockout, confirmations, limiter }: State, nowMs: number): void {
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
