import { hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import type { Clock, Log } from '@octavo/core';
import { AppError, networkOf, newId, notFound, randomBytes } from '@octavo/core';
import {
  base32,
  Encryption,
  matchingTotpStep,
  otpauthUrl,
  storedSecret,
  totpSecretBytes,
  typedDigits,
} from '@octavo/core/auth';
import type { Database, WriteSession } from '@octavo/data';
import type { ServiceContext } from '@octavo/data/service';
import { Counter, type Registry } from 'prom-client';
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { OwnPassword, OwnPasswordCheck } from '../accounts/own-password.ts';
import type { Tables } from '../store.ts';
import {
  acceptTotpStep,
  clearAllTotpFailures,
  clearTotpFailures,
  countTotpFailure,
  deleteTotp,
  findTotp,
  findTotpFailures,
  insertTotpFailure,
  putPendingTotp,
  sweepTotpFailures,
  type TotpRow,
} from './store.ts';

export interface TotpOptions {
  readonly database: Database<Tables>;
  readonly accounts: Accounts;
  readonly ownPassword: OwnPassword;
  /** Absent in production without a secret: TOTP is then unavailable. */
  readonly encryption: Encryption | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

export interface CodeCheck {
  readonly uid: number;
  readonly code: string;
  readonly remoteAddress: string;
}

type Session = WriteSession<Tables>;
type State = 'pending' | 'enabled';

const issuer = 'Octavo';
const minuteMs = 60_000;
const pendingMs = 15 * minuteMs;
/** NIST SP 800-63B section 3.2.2. At 20 wrong codes an hour, a guesser would otherwise have an even chance within a year. */
const failuresInARowMax = 100;
const limits = [
  { failuresMax: 5, windowMs: 15 * minuteMs, isPerNetwork: true },
  { failuresMax: 20, windowMs: 60 * minuteMs, isPerNetwork: false },
];
const failuresKeptMs = 60 * minuteMs;
/**
 * Failures that are further in the future do not count: the clock was ahead, so that correct codes were wrong. The clocks
 * of replicas may differ by as much.
 */
const clockSkewMs = minuteMs;

/** The codes of authenticator apps (RFC 6238), as a second factor of accounts. */
export class Totp {
  readonly #options: TotpOptions;
  readonly #counter: Counter<'outcome'>;

  constructor(options: TotpOptions) {
    this.#options = options;
    this.#counter = new Counter({
      name: 'authz_totp_codes_total',
      help: 'Checked codes of authenticator apps by outcome: ok, or the reason of the error',
      labelNames: ['outcome'],
      registers: [options.metrics],
    });
  }

  /** A new secret, which counts once a code of it has come back. */
  async enroll(given: OwnPasswordCheck): Promise<{ secret: string; otpauthUrl: string }> {
    const { database, ownPassword, clock, log } = this.#options;
    const encryption = this.#encryption();
    const { uid, username } = await ownPassword.confirm(given);
    const bytes = randomBytes(totpSecretBytes);
    const pending = { uid, secret: encryption.encrypt(bytes, String(uid)), nowMs: clock.now() };
    const { numInsertedOrUpdatedRows } = await putPendingTotp(database, pending);
    if (numInsertedOrUpdatedRows === 0n) throw alreadyEnabled();
    log.info({ uid, username }, 'TOTP enrollment started');
    const secret = base32(bytes);
    return { secret, otpauthUrl: otpauthUrl({ secret, issuer, account: username }) };
  }

  /** Enables the pending secret. */
  async confirm(check: CodeCheck): Promise<Account> {
    await this.#check('pending', check);
    this.#options.log.info({ uid: check.uid }, 'TOTP enabled');
    return this.#options.accounts.enabledByUid(check.uid);
  }

  /** Accepts each code once. */
  async verify(check: CodeCheck): Promise<void> {
    await this.#check('enabled', check);
  }

  async disable(check: CodeCheck): Promise<Account> {
    await this.#check('enabled', check, removeTotp);
    this.#options.log.info({ uid: check.uid }, 'TOTP disabled');
    return this.#options.accounts.enabledByUid(check.uid);
  }

  /** Removes the secret without a code, for an administrator. */
  async reset(username: string): Promise<Account> {
    const { database, accounts, log } = this.#options;
    const account = await accounts.byUsername(username);
    if (!account) throw notFound('account', username);
    const { uid } = account;
    await database.write((session) => removeTotp(session, uid));
    log.info({ uid, username: account.username }, 'TOTP reset');
    return { ...account, totpEnabled: false };
  }

  /** Deletes failures that no longer count, so that their table stays small. */
  async sweep(): Promise<void> {
    const { database, clock } = this.#options;
    await sweepTotpFailures(database, clock.now() - failuresKeptMs);
  }

  /** Throws unless the code is correct; `then` is part of the transaction that accepts it. */
  async #check(
    wanted: State,
    given: CodeCheck,
    then?: (session: Session, uid: number) => Promise<void>,
  ): Promise<void> {
    const { database, accounts, log } = this.#options;
    const check = { ...given, code: parseCode(given.code) };
    const { uid, remoteAddress } = check;
    this.#encryption();
    await accounts.enabledByUid(uid);
    // Returned, not thrown: a failure is counted although the call fails.
    const error = await database.write(async (session) => {
      const problem = await this.#problem(session, wanted, check);
      if (!problem) await then?.(session, uid);
      return problem;
    });
    const outcome = error ? (error.reason ?? error.code) : 'ok';
    this.#counter.inc({ outcome });
    log.info({ uid, remoteAddress, outcome }, 'TOTP code checked');
    if (error?.code === 'unavailable') log.error({ uid }, 'this TOTP secret needs another AUTHZ_SECRET');
    if (error) throw error;
  }

  /** Returns the reason to refuse the code; undefined once it is accepted. */
  async #problem(session: Session, wanted: State, check: CodeCheck): Promise<AppError | undefined> {
    const { uid, code } = check;
    const nowMs = this.#options.clock.now();
    // Codes for one account are checked one after another, so that parallel guesses do not outrun the count.
    await session.lock(`totp ${uid}`);
    const totp = await findTotp(session, uid);
    if (!totp || !isInState(totp, wanted, nowMs)) return wrongState(wanted, totp);
    if (totp.failures >= failuresInARowMax) return locked();
    const retryAfterMs = await limitedForMs(session, { ...check, nowMs });
    if (retryAfterMs > 0) return limited(retryAfterMs);
    const secret = this.#encryption().decrypt(totp.secret, String(uid));
    if (!secret) return unavailable();
    const step = matchingTotpStep(secret, code, nowMs);
    if (step === undefined) return countFailure(session, totp, { ...check, nowMs });
    const { numUpdatedRows } = await acceptTotpStep(session, { uid, secret: totp.secret, step });
    // A code that is sent twice is no guess, so it is not counted.
    if (numUpdatedRows === 0n) return invalidCode();
    await clearTotpFailures(session, uid, networkOf(check.remoteAddress));
    return undefined;
  }

  #encryption(): Encryption {
    const { encryption } = this.#options;
    if (!encryption) throw unavailable();
    return encryption;
  }
}

function parseCode(text: string): string {
  const code = typedDigits(text);
  if (code !== undefined) return code;
  const problem = 'must be 6 digits';
  throw new AppError('validation_failed', `code ${problem}`, { fields: { code: problem } });
}

function isInState({ enabled, created_at_ms: createdMs }: TotpRow, wanted: State, nowMs: number): boolean {
  return wanted === 'enabled' ? enabled === 1 : enabled === 0 && nowMs - createdMs < pendingMs;
}

async function countFailure(
  session: Session,
  { secret, failures }: TotpRow,
  { uid, remoteAddress, nowMs }: CodeCheck & { nowMs: number },
): Promise<AppError> {
  await insertTotpFailure(session, { id: newId(), uid, network: networkOf(remoteAddress), at_ms: nowMs });
  await countTotpFailure(session, uid, secret);
  return failures + 1 >= failuresInARowMax ? locked() : invalidCode();
}

/** Returns the time for which codes are refused because of earlier failures; 0 or less if they are not. */
async function limitedForMs(
  session: Session,
  { uid, remoteAddress, nowMs }: CodeCheck & { nowMs: number },
): Promise<number> {
  const span = { uid, afterMs: nowMs - failuresKeptMs, untilMs: nowMs + clockSkewMs };
  const failures = await findTotpFailures(session, span);
  const ofNetwork = failures.filter(({ network }) => network === networkOf(remoteAddress));
  const untilMs = limits.map(({ failuresMax, windowMs, isPerNetwork }) => {
    const oldest = (isPerNetwork ? ofNetwork : failures)[failuresMax - 1];
    return oldest ? oldest.at_ms + windowMs : 0;
  });
  return Math.max(...untilMs) - nowMs;
}

async function removeTotp(session: Session, uid: number): Promise<void> {
  await session.lock(`totp ${uid}`);
  await deleteTotp(session, uid);
  await clearAllTotpFailures(session, uid);
}

function wrongState(wanted: State, totp: TotpRow | undefined): AppError {
  if (wanted === 'enabled') {
    return new AppError('precondition_failed', 'The account has no authenticator app.', {
      reason: 'TOTP_NOT_ENABLED',
    });
  }
  if (totp?.enabled === 1) return alreadyEnabled();
  return new AppError('precondition_failed', 'The setup has expired. Set up the authenticator app again.', {
    reason: 'TOTP_NOT_PENDING',
  });
}

function alreadyEnabled(): AppError {
  return new AppError('conflict', 'The account has an authenticator app already. Disable it first.', {
    reason: 'TOTP_ENABLED',
  });
}

function locked(): AppError {
  return new AppError(
    'precondition_failed',
    'The authenticator app is locked after too many wrong codes. Ask an administrator to reset it.',
    { reason: 'TOTP_LOCKED' },
  );
}

function limited(retryAfterMs: number): AppError {
  return new AppError('rate_limited', 'Too many wrong codes. Try again later.', {
    retryAfterSeconds: Math.ceil(retryAfterMs / 1_000),
  });
}

function invalidCode(): AppError {
  return new AppError('unauthenticated', 'The code is wrong or was used before.', { reason: 'INVALID_CODE' });
}

function unavailable(): AppError {
  return new AppError(
    'unavailable',
    'Authenticator apps are not available: AUTHZ_SECRET is missing or wrong.',
    {
      reason: 'TOTP_UNAVAILABLE',
    },
  );
}

/** Encrypts the secrets of authenticator apps. Each is bound to its uid. */
function totpEncryption(secret: string): Encryption {
  return new Encryption([new Uint8Array(hkdfSync('sha256', secret, '', 'totp', 32))]);
}

/** Opens the encryption by the given secret; outside production by one in the data folder if none is given. In production there is none then. */
export async function openTotpEncryption(
  given: string | undefined,
  { dataFolder, environment }: ServiceContext,
): Promise<Encryption | undefined> {
  if (given !== undefined) return totpEncryption(given);
  if (environment === 'production') return undefined;
  return totpEncryption(await storedSecret(join(dataFolder, 'authz.secret')));
}
