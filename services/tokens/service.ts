import { availableParallelism } from 'node:os';
import { AppError, localOrigin, newSecret } from '@octavo/core';
import { RateLimiter } from '@octavo/core/auth';
import { runEvery } from '@octavo/core/concurrency';
import {
  checkBreachedFile,
  openPasswordRules,
  type PasswordRules,
  Passwords,
  passwordCost,
} from '@octavo/core/passwords';
import { defineService, type ServiceContext, type ServiceParts } from '@octavo/data/service';
import { createHttpServer, type HttpServer, limitRequests } from '@octavo/web/server';
import { Gauge, type Registry } from 'prom-client';
import { Accounts } from './accounts/accounts.ts';
import { Lockout } from './accounts/lockout.ts';
import { SignIns } from './accounts/sign-ins.ts';
import { Sessions, Users } from './accounts/store.ts';
import { checkSecrets, chooseSecrets, Tokens } from './accounts/tokens.ts';
import { addApi } from './api.ts';
import { Audit } from './audit.ts';
import { MailLinks } from './links/links.ts';
import { addLinkPages } from './links/pages.ts';
import { Links } from './links/store.ts';
import { checkMails, type Mails, openMails, originOf, shownFolder } from './mail/mails.ts';
import { addAccountPages } from './pages/account.ts';
import { addPages } from './pages/pages.ts';
import { addSignInPages } from './pages/sign-in.ts';
import { settings, type TokensConfig } from './settings.ts';

const keysMax = 100_000;
const sweepMs = 1_000;
const serviceWord = 'octavo';

/** Accounts with passwords; access and refresh tokens. All in memory. */
export const tokens = defineService({
  name: 'tokens',
  summary: 'Accounts with passwords, access and refresh tokens',
  settings,
  checks: [checkSecrets, checkBreachedFile, checkMails],
  isSingle: true,
  build,
});

async function build({ config, context, stack }: ServiceParts<typeof settings>) {
  const { clock } = context;
  const state = createState(config, context);
  const words = new Set([serviceWord, config.JWT_ISSUER.toLowerCase()]);
  const passwordRules = await openPasswordRules(config, [...words], stack);
  const mails = await openMails(config, context, stack);
  const { signIns, accounts, links } = createRules(config, context, state, { passwordRules, mails });
  const { app, listen } = stack.use(await createServer(config, context, signIns));
  const limit = limitRequests(state.limiter ? [{ name: 'auth', limiter: state.limiter }] : [], clock);
  addApi(app, { signIns, accounts, links, limit });
  const mailFolder = shownFolder(config, context);
  const pages = { signIns, accounts, links, mailFolder, passwordRules, clock, limit };
  // Cookies hold tokens, which a restart makes invalid, so their key need not be kept either.
  const cookies = { secret: newSecret(), sessionSeconds: config.SESSION_MAX_AGE_SECONDS, clock, signIns };
  addPages(app, cookies, (routes) => {
    addSignInPages(routes, pages);
    addAccountPages(routes, pages);
    addLinkPages(routes, pages);
  });
  measure({ ...state, mails }, context.metrics);
  stack.use(runEvery(sweepMs, () => sweep(state, clock.now())));
  const url = await listen();
  links.origin = config.TOKENS_URL ? originOf(config.TOKENS_URL) : localOrigin(url);
  return { url };
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
    links: new Links(),
    limiter: requestsMax > 0 ? new RateLimiter({ requestsMax, windowMs, keysMax }) : undefined,
  };
}

function createRules(
  config: TokensConfig,
  { clock, environment, log, metrics }: ServiceContext,
  { users, sessions, links: linkStore, lockout, confirmations }: State,
  { passwordRules, mails }: { passwordRules: PasswordRules; mails: Mails | undefined },
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
  const shared = { users, sessions, passwords, passwordRules, lockout, confirmations, audit, clock };
  const perAddressMax = config.LINK_MAILS_PER_ADDRESS;
  const links = new MailLinks({
    ...shared,
    links: linkStore,
    mails,
    limiter:
      perAddressMax > 0
        ? new RateLimiter({ requestsMax: perAddressMax, windowMs: 3_600_000, keysMax })
        : undefined,
    verification: config.EMAIL_VERIFICATION,
    lifetimesMs: {
      'password-reset': config.PASSWORD_RESET_SECONDS * 1_000,
      'email-verification': config.EMAIL_VERIFICATION_SECONDS * 1_000,
    },
  });
  const signIns = new SignIns({ ...shared, tokens, mails: links });
  return { signIns, links, accounts: new Accounts({ ...shared, signIns, mails: links }) };
}

function createServer(config: TokensConfig, context: ServiceContext, signIns: SignIns): Promise<HttpServer> {
  return createHttpServer({
    name: 'tokens',
    context,
    title: 'Accounts',
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
    corsOnEveryJson: true,
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

function sweep({ sessions, links, lockout, confirmations }: State, nowMs: number): void {
  sessions.sweep(nowMs);
  links.sweep(nowMs);
  lockout.sweep();
  confirmations.sweep();
}

function measure(state: State & { mails: Mails | undefined }, metrics: Registry): void {
  const { users, sessions, lockout, limiter, links, mails } = state;
  const sizes = { users, sessions, lockouts: lockout, limiter_keys: limiter, links, mails };
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
