import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@octavo/core';
import { ResponseTooLarge, withinBytes } from '@octavo/core';
import type { ApiRecord } from './trace.ts';

const callMs = 3_000;
const retryWithinMs = 1_500;
const bytesMax = 1024 * 1024;
const rowsMax = 100;
const tokenMarginMs = 30_000;

/** Result of one call. */
export interface DomainAnswer {
  readonly status: number;
  readonly attempts: number;
  readonly rows: readonly ApiRecord[];
  /** True if there are more than `rows`. */
  readonly truncated: boolean;
}

/** A call that brought no records, with what clients may see of it. */
export class DomainApiError extends Error {
  readonly status: number | null;
  readonly attempts: number;

  constructor(message: string, { status, attempts }: { status: number | null; attempts: number }) {
    super(message);
    this.status = status;
    this.attempts = attempts;
  }
}

export interface DomainApiOptions {
  /** The only address that is ever called. */
  readonly url: string;
  /** `id:secret`, if the API gives tokens to known clients only. */
  readonly clientSecret?: string | undefined;
  readonly clock: Clock;
}

/** Calls the domain data API with a token that is kept until it expires. */
export class DomainApi {
  readonly #options: DomainApiOptions;
  readonly #base: string;
  #token: { readonly text: string; readonly expiresAtMs: number } | undefined;
  #fetching: Promise<string> | undefined;
  /** When a call last succeeded. */
  lastOkAtMs: number | undefined;
  /** True if the last call reached it; undefined before the first one. */
  isReachable: boolean | undefined;

  constructor(options: DomainApiOptions) {
    this.#options = options;
    this.#base = options.url.replace(/\/+$/, '');
  }

  /** Gets a path, encoded already. Throws a {@link DomainApiError}. */
  async get(
    path: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<DomainAnswer> {
    let isRenewed = false;
    let isRetried = false;
    for (let attempts = 1; ; attempts++) {
      let token = '';
      const response = await this.#attempt(
        async (limit) => {
          token = await this.#tokenFor(limit);
          return this.#send(`${path}${queryText(query)}`, { authorization: `Bearer ${token}` }, limit);
        },
        { signal, attempts },
      );
      const { status } = response;
      if (status === 401 && !isRenewed) {
        isRenewed = true;
        if (this.#token?.text === token) this.#token = undefined;
      } else if (isBusy(response) && !isRetried) {
        isRetried = true;
        await sleep(waitOf(response), undefined, { signal });
      } else {
        return this.#read(response, attempts);
      }
    }
  }

  async #attempt(
    send: (limit: AbortSignal) => Promise<Received>,
    { signal, attempts }: { signal: AbortSignal; attempts: number },
  ): Promise<Received> {
    try {
      const received = await send(AbortSignal.any([signal, AbortSignal.timeout(callMs)]));
      this.isReachable = true;
      return received;
    } catch (error) {
      signal.throwIfAborted();
      this.isReachable = false;
      if (error instanceof DomainApiError)
        throw new DomainApiError(error.message, { status: error.status, attempts });
      const isLate = (error as Error).name === 'TimeoutError';
      const message = isLate ? 'The domain API took too long.' : 'The domain API cannot be reached.';
      throw new DomainApiError(message, { status: null, attempts });
    }
  }

  #read({ status, text, total }: Received, attempts: number): DomainAnswer {
    const refused = (message: string) => new DomainApiError(message, { status, attempts });
    if (status === 404) return { status, attempts, rows: [], truncated: false };
    if (status < 200 || status > 299) throw refused(`The domain API answered ${status}.`);
    this.lastOkAtMs = this.#options.clock.now();
    const body = parsed(text);
    if (typeof body !== 'object' || body === null)
      throw refused('The domain API answered with something else than JSON.');
    const all = (Array.isArray(body) ? body : [body]).filter(isRecord);
    const rows = all.slice(0, rowsMax);
    return { status, attempts, rows, truncated: rows.length < Math.max(all.length, total) };
  }

  /** All who need a token while one is on its way wait for the same. */
  #tokenFor(signal: AbortSignal): Promise<string> {
    const nowMs = this.#options.clock.now();
    if (this.#token && nowMs < this.#token.expiresAtMs) return Promise.resolve(this.#token.text);
    this.#fetching ??= this.#newToken().finally(() => {
      this.#fetching = undefined;
    });
    return unlessAborted(this.#fetching, signal);
  }

  async #newToken(): Promise<string> {
    const { clientSecret, clock } = this.#options;
    const headers: Record<string, string> = clientSecret ? { 'x-api-key': clientSecret } : {};
    const ask = () => this.#send('/auth/token', headers, AbortSignal.timeout(callMs));
    let received = await ask();
    if (isBusy(received)) {
      await sleep(waitOf(received));
      received = await ask();
    }
    const { status, text } = received;
    const body = parsed(text);
    const token = isRecord(body) ? (body.access_token ?? body.token) : undefined;
    if (status !== 200 || typeof token !== 'string' || token === '')
      throw new DomainApiError('The domain API gives no token.', { status, attempts: 1 });
    const seconds = isRecord(body) && Number(body.expires_in) > 0 ? Number(body.expires_in) : 300;
    const lifetimeMs = Math.max(seconds * 1_000 - tokenMarginMs, seconds * 500);
    this.#token = { text: token, expiresAtMs: clock.now() + lifetimeMs };
    return token;
  }

  async #send(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Received> {
    const response = await fetch(`${this.#base}${path}`, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual',
      signal,
    });
    const { status } = response;
    const text = await boundedText(response);
    const total = Number(response.headers.get('x-total-count') ?? 0) || 0;
    return { status, text, total, retryAfter: response.headers.get('retry-after') };
  }
}

interface Received {
  readonly status: number;
  readonly text: string;
  /** Number of all records, if the API tells it. */
  readonly total: number;
  readonly retryAfter: string | null;
}

/** Throws a {@link DomainApiError} if there is too much of it. */
async function boundedText(response: Response): Promise<string> {
  try {
    return await withinBytes(response, bytesMax).text();
  } catch (error) {
    if (!(error instanceof ResponseTooLarge)) throw error;
    const { status } = response;
    throw new DomainApiError('The answer of the domain API is too large.', { status, attempts: 1 });
  }
}

function isBusy({ status }: Received): boolean {
  return status === 429 || status === 503;
}

function waitOf({ retryAfter }: Received): number {
  const wantedMs = Number(retryAfter ?? 0) * 1_000;
  return Number.isFinite(wantedMs) ? Math.min(Math.max(wantedMs, 50), retryWithinMs) : retryWithinMs;
}

function queryText(query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is ApiRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', giveUp));
}
