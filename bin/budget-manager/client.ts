import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.ts';

const responseTimeoutMs = 60_000;
const waitSecondsMax = 60;
const attemptsMax = 5;

interface Request {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly form?: FormData;
}

/** A response with its body, read as JSON. */
export interface Answered<T> {
  readonly body: T;
  readonly headers: Headers;
}

/** Calls the API of budgets. Failures are {@link Failure}s: refused, signed out or unreachable. */
export class Client {
  token: string | undefined;
  readonly #find: () => Promise<string>;
  readonly #note: (text: string) => void;
  #url: Promise<string> | undefined;

  constructor({ url, note }: { url: () => Promise<string>; note: (text: string) => void }) {
    this.#find = url;
    this.#note = note;
  }

  /** The address of the service, without a slash at the end. */
  url(): Promise<string> {
    this.#url ??= this.#find();
    return this.#url;
  }

  get<T>(path: string): Promise<T> {
    return this.send<T>(path).then(({ body }) => body);
  }

  post<T>(path: string, json: unknown): Promise<T> {
    return this.send<T>(path, { method: 'POST', json }).then(({ body }) => body);
  }

  /** Sends one request and reads the response as JSON. */
  async send<T>(path: string, request: Request = {}): Promise<Answered<T>> {
    const response = await this.open(path, request);
    return { body: (await readJson(response)) as T, headers: response.headers };
  }

  /** Sends one request and returns a successful response with its body unread. Waits for a rate limit that asks for it. */
  async open(path: string, request: Request = {}): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.#fetch(path, request);
      if (response.ok) return response;
      const waitSeconds = response.status === 429 ? Number(response.headers.get('retry-after')) : Number.NaN;
      if (!(waitSeconds <= waitSecondsMax) || attempt === attemptsMax) throw await failureOf(response);
      this.#note(`The rate limit is reached; waiting ${waitSeconds} s.`);
      await response.body?.cancel();
      await sleep(waitSeconds * 1_000);
    }
  }

  async #fetch(path: string, { method = 'GET', json, form }: Request): Promise<Response> {
    const url = await this.url();
    try {
      return await fetch(`${url}${path}`, {
        method,
        redirect: 'error',
        signal: AbortSignal.timeout(responseTimeoutMs),
        headers: {
          ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
          ...(json !== undefined && { 'content-type': 'application/json' }),
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...(form && { body: form }),
      });
    } catch (error) {
      throw new Failure('unreachable', `${url} cannot be reached: ${reasonOf(error as Error)}.`);
    }
  }
}

/** All pages of a list, by the links to the next one, up to `max` rows. */
export async function* listAll<T>(
  client: Client,
  path: string,
  max = Number.POSITIVE_INFINITY,
): AsyncGenerator<T> {
  let next: string | undefined = path;
  let count = 0;
  while (next !== undefined) {
    const { body, headers }: Answered<T[]> = await client.send<T[]>(next);
    for (const row of body) {
      if (count++ === max) return;
      yield row;
    }
    next = nextPage(headers.get('link'));
  }
}

/** The path of the next page in a `Link` header (RFC 8288). */
function nextPage(link: string | null): string | undefined {
  const target = link?.match(/<([^>]*)>\s*;\s*rel="?next"?/)?.[1];
  if (target === undefined) return undefined;
  const { pathname, search } = new URL(target, 'http://localhost');
  return pathname + search;
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure(
      'unreachable',
      `${new URL(response.url).origin} answered with something that is not JSON. Is it budgets?`,
    );
  }
}

interface ErrorBody {
  readonly message?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** The message of an error response of REST or GraphQL, with a line for each field at fault. */
async function failureOf(response: Response): Promise<Failure> {
  const body = ((await readJson(response)) ?? {}) as { error?: ErrorBody; errors?: readonly ErrorBody[] };
  const error = body.error ?? body.errors?.[0];
  const lines = Object.entries(error?.fields ?? {}).map(([field, problem]) => `  ${field}: ${problem}`);
  const message = [error?.message ?? `The service answered ${response.status}.`, ...lines].join('\n');
  if (response.status === 401) return new Failure('signed_out', message);
  return new Failure([502, 503, 504].includes(response.status) ? 'unreachable' : 'refused', message);
}

function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return `no response within ${responseTimeoutMs / 1_000} s`;
  const cause = error.cause as (Error & { code?: string; errors?: Error[] }) | undefined;
  return cause?.errors?.[0]?.message || cause?.message || cause?.code || error.message;
}
