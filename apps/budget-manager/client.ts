import { setTimeout as sleep } from 'node:timers/promises';
import { parseRaw } from '@octavo/core/text';
import { Failure } from './failure.ts';
import { Silence } from './silence.ts';

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

/** A successful response whose body is read piece by piece. */
export interface Opened {
  readonly headers: Headers;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Calls the API of budgets. Failures are {@link Failure}s: refused, signed out or unreachable. */
export class Client {
  token: string | undefined;
  readonly #find: () => Promise<string>;
  readonly #note: (text: string) => void;
  readonly #silenceMs: number;
  #url: Promise<string> | undefined;

  /** @param options `silenceMs` is how long nothing may come of a response, however long it is as a whole. */
  constructor(options: { url: () => Promise<string>; note: (text: string) => void; silenceMs: number }) {
    this.#find = options.url;
    this.#note = options.note;
    this.#silenceMs = options.silenceMs;
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
    const { headers, body } = await this.open(path, request);
    return { body: (await this.#readJson(body)) as T, headers };
  }

  /** Sends one request and returns a successful response with its body unread. Waits for a rate limit that asks for it. */
  async open(path: string, request: Request = {}): Promise<Opened> {
    for (let attempt = 1; ; attempt++) {
      const { response, body } = await this.#fetch(path, request);
      if (response.ok) return { headers: response.headers, body };
      const waitSeconds = response.status === 429 ? Number(response.headers.get('retry-after')) : Number.NaN;
      if (!(waitSeconds <= waitSecondsMax) || attempt === attemptsMax)
        throw failureOf(response.status, await this.#readJson(body));
      this.#note(`The rate limit is reached; waiting ${waitSeconds} s.`);
      await response.body?.cancel();
      await sleep(waitSeconds * 1_000);
    }
  }

  async #fetch(path: string, { method = 'GET', json, form }: Request) {
    const url = await this.url();
    const silence = new Silence(this.#silenceMs);
    const upload = form && new Response(form);
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        redirect: 'error',
        signal: silence.signal,
        headers: {
          ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...(upload && { 'content-type': upload.headers.get('content-type') ?? '' }),
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...(upload?.body && {
          body: ReadableStream.from(silence.after(upload.body)),
          duplex: 'half' as const,
        }),
      });
      return { response, body: silence.within(response.body ?? []) };
    } catch (error) {
      throw new Failure('unreachable', `${url} cannot be reached: ${silence.reasonOf(error as Error)}.`);
    } finally {
      silence.pause();
    }
  }

  async #readJson(body: Opened['body']): Promise<unknown> {
    const text = Buffer.concat(await Array.fromAsync(body)).toString('utf8');
    try {
      return parseRaw(text);
    } catch {
      throw new Failure(
        'unreachable',
        `${await this.url()} answered with something that is not JSON. Is it budgets?`,
      );
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

interface ErrorBody {
  readonly message?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** The message of an error response of REST or GraphQL, with a line for each field at fault. */
function failureOf(status: number, answer: unknown): Failure {
  const body = (answer ?? {}) as { error?: ErrorBody; errors?: readonly ErrorBody[] };
  const error = body.error ?? body.errors?.[0];
  const lines = Object.entries(error?.fields ?? {}).map(([field, problem]) => `  ${field}: ${problem}`);
  const message = [error?.message ?? `The service answered ${status}.`, ...lines].join('\n');
  if (status === 401) return new Failure('signed_out', message);
  return new Failure([502, 503, 504].includes(status) ? 'unreachable' : 'refused', message);
}
