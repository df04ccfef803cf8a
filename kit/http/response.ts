import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { RouteFigures } from './figures.ts';
import type { HeaderLines } from './header-lines.ts';
import { http } from './node-http.ts';
import type { Traffic } from './traffic.ts';

type HeadersGiven = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** How long an answer may wait for others of the same turn of the event loop, where none of their handlers takes longer. */
const togetherMs = 1;

/** The answer to one request, with what the server notes about it. */
export class HttpResponse extends http.ServerResponse {
  startMs = 0;
  /** Names the request in answers and logs. */
  requestId = '';
  /** Absent until a route is found. */
  route: RouteFigures | undefined;
  /** Who asked, for the access log: the client behind trusted proxies, and the account where there is one. */
  clientAddress: string | undefined;
  userId: string | undefined;
  /** Whether it broke off after it had begun. */
  hasFailed = false;
  /** The status that the client was told in its place, where the request did not come whole. */
  refusedWith: number | undefined;
  /** Where the server has its counts; absent before the door. */
  traffic: Traffic | undefined;
  /** What the head carries besides what is written. */
  defaults: HeaderLines | undefined;
  #hasSetHeaders = false;
  /** What it is to end with. */
  #end: unknown[] | undefined;

  /**
   * Ends with this. Answers that are made in one turn of the event loop are written together at its end: a write that wakes a client
   * costs as much as a point read does in all, and the ones behind it find the client awake.
   */
  override end(...given: unknown[]): this {
    if (this.#end) return this;
    this.#end = given;
    ended.push(this);
    if (ended.length === 1) {
      firstEndedMs = performance.now();
      setImmediate(writeEnded);
    } else if (performance.now() - firstEndedMs > togetherMs) {
      writeEnded();
    }
    return this;
  }

  /** Writes what it ends with. */
  writeEnd(): void {
    super.end.apply(this, this.#end as Parameters<ServerResponse['end']>);
  }

  static {
    // As without the wait: true from the call of `end` on.
    Object.defineProperty(HttpResponse.prototype, 'writableEnded', {
      get(this: HttpResponse) {
        return this.#end !== undefined;
      },
    });
  }

  /**
   * Writes the head and puts in the headers that every answer carries, unless the given ones are a bare list, as in
   * calls between services. Those were checked once and for all, so they go straight into the text that Node made of
   * the others (`_header`, which is its own): to have them checked and joined each time would cost as much as all
   * else that the kit does for a request.
   */
  override writeHead(status: number, message?: string, headers?: HeadersGiven): this;
  override writeHead(status: number, headers?: HeadersGiven): this;
  override writeHead(status: number, message?: string | HeadersGiven, headers?: HeadersGiven): this {
    if (this.traffic?.isStopping) this.shouldKeepAlive = false;
    const given = typeof message === 'string' ? headers : message;
    if (typeof message === 'string') super.writeHead(status, message, given);
    else super.writeHead(status, given);
    if (this.defaults && !Array.isArray(given)) {
      const lines = this.defaults.besides(given ?? none, this.#hasSetHeaders ? this : undefined);
      const written = this as unknown as { _header: string };
      written._header = `${written._header.slice(0, -2)}${lines}x-request-id: ${this.requestId}\r\n\r\n`;
    }
    return this;
  }

  override setHeader(name: string, value: number | string | readonly string[]): this {
    this.#hasSetHeaders = true;
    return super.setHeader(name, value);
  }
}

const none = {};
let ended: HttpResponse[] = [];
let firstEndedMs = 0;

function writeEnded(): void {
  const now = ended;
  ended = [];
  for (const response of now) response.writeEnd();
}

/** The answer behind a Fastify reply. */
export function responseOf(reply: { readonly raw: ServerResponse<IncomingMessage> }): HttpResponse {
  return reply.raw as HttpResponse;
}
