import { bearer } from '@octavo/testing';
import type { Ledger, Outcome } from './ledger.ts';
import type { Secrets } from './secrets.ts';

/** Longer than any service waits for an engine. */
const patienceMs = 10_000;

export interface Reply {
  readonly outcome: Outcome;
  /** 0 without a response. */
  readonly status: number;
  readonly text: string;
  /** The body, parsed; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a client reads any response
  readonly json: any;
  /** The `Link` header, and the number of items of a list. */
  readonly link: string;
  readonly total: number;
}

const none = { status: 0, json: undefined, link: '', total: 0 };

export interface Call {
  readonly method?: string;
  /** Sent as JSON, but for forms. */
  readonly body?: object | undefined;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses of 4xx that are no finding. */
  readonly expected?: readonly number[];
}

/** A client of one service, which sends each request to one of its replicas, and to the next if that does not listen. */
export class Client {
  readonly service: string;
  readonly #addresses: readonly string[];
  readonly #ledger: Ledger;
  readonly #secrets: Secrets;

  constructor(
    service: string,
    addresses: readonly string[],
    { ledger, secrets }: { readonly ledger: Ledger; readonly secrets: Secrets },
  ) {
    this.service = service;
    this.#addresses = addresses;
    this.#ledger = ledger;
    this.#secrets = secrets;
  }

  /** The address of one of the replicas. */
  address(): string {
    return this.#addresses[Math.floor(Math.random() * this.#addresses.length)] as string;
  }

  async send(path: string, call: Call = {}): Promise<Reply> {
    const first = this.#addresses.indexOf(this.address());
    const inTurn = [...this.#addresses.slice(first), ...this.#addresses.slice(0, first)];
    for (const address of inTurn) {
      const reply = await this.#sendTo(address, path, call);
      if (reply !== undefined) return reply;
    }
    return { ...none, outcome: 'refused', text: 'no server listens' };
  }

  /** Asks again with the same key until the write is done or refused for good; for requests that have an effect once. */
  async sendByKey(path: string, call: Call, tries = 5): Promise<Reply> {
    let wasUnknown = false;
    for (let left = tries; ; left--) {
      const reply = await this.send(path, call);
      wasUnknown ||= reply.outcome === 'unknown';
      if (reply.outcome === 'acknowledged' || left <= 1)
        return reply.outcome === 'refused' && wasUnknown ? { ...reply, outcome: 'unknown' } : reply;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** Sends until it is acknowledged, for setting up and for reading after the day. Throws after a minute, or when it is wrong. */
  async must(path: string, call: Call = {}): Promise<Reply> {
    const endMs = performance.now() + 60_000;
    for (;;) {
      const reply = await this.send(path, call);
      if (reply.outcome === 'acknowledged') return reply;
      const isFinal = reply.status >= 400 && reply.status < 429;
      if (isFinal || performance.now() > endMs)
        throw new Error(`${this.service} ${path} does not succeed: ${reply.status} ${reply.text}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** Undefined if no server listens at the address. */
  async #sendTo(address: string, path: string, call: Call): Promise<Reply | undefined> {
    const { body, token, headers } = call;
    const isForm = body instanceof FormData;
    const method = call.method ?? (body === undefined ? 'GET' : 'POST');
    this.#secrets.addFrom({ token, body });
    try {
      const response = await fetch(address + path, {
        method,
        redirect: 'manual',
        headers: {
          ...bearer(token),
          ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(patienceMs),
      });
      const { status } = response;
      const text = await response.text();
      const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
      this.#examine({ status, text, method, path, expected: call.expected ?? [] });
      const json = isJson && text !== '' ? JSON.parse(text) : undefined;
      this.#secrets.addFrom(json);
      return {
        outcome: outcomeOf(status),
        status,
        text,
        json,
        link: response.headers.get('link') ?? '',
        total: Number(response.headers.get('x-total-count') ?? 0),
      };
    } catch (error) {
      if (codesOf(error).includes('ECONNREFUSED')) return undefined;
      return { ...none, outcome: 'unknown', text: String(error) };
    }
  }

  #examine({
    status,
    text,
    method,
    path,
    expected,
  }: {
    status: number;
    text: string;
    method: string;
    path: string;
    expected: readonly number[];
  }) {
    const isOrdinary =
      status < 400 || [408, 429, 502, 503, 504].includes(status) || expected.includes(status);
    if (isOrdinary) return;
    const place = withoutIds(path.replace(/\?.*/, ''));
    this.#ledger.report(
      `${this.service}: ${method} ${place} responded with ${status}: ${withoutIds(text).slice(0, 300)}`,
    );
  }
}

function outcomeOf(status: number): Outcome {
  if (status < 400) return 'acknowledged';
  return [500, 502, 504].includes(status) ? 'unknown' : 'refused';
}

/** Text in which ids and numbers are left out, so that equal findings are one. */
function withoutIds(text: string): string {
  return text.replace(/[0-9a-f-]{30,}|\d+/g, '…');
}

function codesOf(error: unknown): string[] {
  const { code, cause, errors = [] } = error as { code?: string; cause?: unknown; errors?: unknown[] };
  return [...(code ? [code] : []), ...(cause ? codesOf(cause) : []), ...errors.flatMap(codesOf)];
}
