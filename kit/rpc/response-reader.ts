import { latin1 } from './latin1.ts';

/** The start of an HTTP response. */
export interface ResponseHead {
  readonly status: number;
  /** By lower-case name; repeated ones joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the connection can be used again after this response. */
  readonly keepsAlive: boolean;
}

/** What is made of the bytes of a response. */
export interface ResponseEvents {
  onHead(head: ResponseHead): void;
  /** A chunk holds until this returns, the last one of a body of known length until `onEnd` has returned. */
  onData(chunk: Buffer, isLast: boolean): void;
  onEnd(): void;
}

/**
 * Reads the responses of one HTTP/1.1 connection (RFC 9112), one after another, however their bytes are cut. Undici does
 * the same at twice the cost for small answers, and most of a call between services is this. Throws an `Error` for what
 * is not HTTP, and for bytes that no request asked for.
 */
export class ResponseReader {
  readonly #events: ResponseEvents;
  #state: 'head' | 'body' | 'chunk line' | 'chunk' | 'chunk end' | 'trailer' | 'until close' | 'done' =
    'done';
  /** Bytes of the body, or of its current chunk, that are still to come. */
  #leftBytes = 0;
  /** The start of a head or line whose end has not come yet. */
  #partial = noBytes;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  /** A request was sent: its response may come. */
  expect(): void {
    this.#state = 'head';
  }

  push(bytes: Buffer): void {
    let rest = this.#partial.length === 0 ? bytes : Buffer.concat([this.#partial, bytes]);
    while (rest.length > 0) {
      const taken = this.#take(rest);
      if (taken === 0) break;
      rest = rest.subarray(taken);
    }
    if (this.#state === 'done' && rest.length === 0) {
      this.#partial = noBytes;
      this.#events.onEnd();
      return;
    }
    if (rest.length > headBytesMax) throw new Error('the head of an HTTP response is too long');
    this.#partial = rest.length === 0 ? noBytes : Buffer.from(rest);
  }

  /** The other side has closed: that is the end of a body without a length. Throws where the response is not whole. */
  close(): void {
    if (this.#state !== 'until close')
      throw new Error('the connection was closed before the end of the response');
    this.#state = 'done';
    this.#events.onEnd();
  }

  /** Reads what is at the start; gives how many bytes that was, 0 where it needs more. */
  #take(bytes: Buffer): number {
    if (this.#state === 'body' || this.#state === 'chunk') return this.#takeBody(bytes);
    if (this.#state === 'done') throw new Error('there are bytes that no request asked for');
    if (this.#state === 'until close') {
      this.#events.onData(bytes, false);
      return bytes.length;
    }
    const mark = this.#state === 'head' ? '\r\n\r\n' : '\r\n';
    const end = bytes.indexOf(mark);
    if (end < 0) return 0;
    this.#takeText(latin1(bytes, end));
    return end + mark.length;
  }

  #takeText(text: string): void {
    switch (this.#state) {
      case 'head':
        this.#takeHead(parseHead(text));
        break;
      case 'chunk line':
        this.#leftBytes = parseChunkLine(text);
        this.#state = this.#leftBytes === 0 ? 'trailer' : 'chunk';
        break;
      case 'chunk end':
        if (text !== '') throw new Error('a chunk of an HTTP response is longer than it says');
        this.#state = 'chunk line';
        break;
      default:
        if (text === '') this.#state = 'done';
    }
  }

  #takeHead(head: ResponseHead): void {
    if (head.status < 200) return;
    const { 'transfer-encoding': coding, 'content-length': length } = head.headers;
    const isBodiless = head.status === 204 || head.status === 304 || length === '0';
    const isUntilClose = !isBodiless && coding === undefined && length === undefined;
    this.#events.onHead(isUntilClose ? { ...head, keepsAlive: false } : head);
    this.#leftBytes = Number(length);
    this.#state = coding !== undefined ? 'chunk line' : isUntilClose ? 'until close' : 'body';
    if (isBodiless) this.#state = 'done';
  }

  #takeBody(bytes: Buffer): number {
    const taken = Math.min(bytes.length, this.#leftBytes);
    const isLast = this.#state === 'body' && taken === this.#leftBytes;
    const chunk = bytes.subarray(0, taken);
    this.#leftBytes -= taken;
    this.#events.onData(chunk, isLast);
    if (isLast) this.#state = 'done';
    else if (this.#leftBytes === 0) this.#state = 'chunk end';
    return taken;
  }
}

const headBytesMax = 16 * 1024;
const noBytes: Buffer = Buffer.alloc(0);

function parseHead(text: string): ResponseHead {
  const lines = text.split('\r\n');
  const statusLine = lines[0] as string;
  if (!/^HTTP\/1\.[01] [1-9]\d\d( |$)/.test(statusLine))
    throw new Error('the answer is not an HTTP response');
  const headers: Record<string, string> = {};
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index] as string;
    const colon = line.indexOf(':');
    if (colon <= 0) throw new Error('a header of the HTTP response is malformed');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  checkFraming(headers);
  const closes = /\bclose\b/i.test(headers.connection ?? '') || statusLine.startsWith('HTTP/1.0');
  return { status: Number(statusLine.slice(9, 12)), headers, keepsAlive: !closes };
}

function checkFraming(headers: Readonly<Record<string, string>>): void {
  const { 'transfer-encoding': coding, 'content-length': length } = headers;
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || length !== undefined)) {
    throw new Error(`the HTTP response has the transfer encoding ${coding}`);
  }
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    throw new Error('the content length of the HTTP response is not a number');
  }
}

function parseChunkLine(text: string): number {
  const size = /^([0-9a-f]{1,12})\s*(;|$)/i.exec(text)?.[1];
  if (size === undefined) throw new Error('a chunk of the HTTP response has no size');
  return Number.parseInt(size, 16);
}
