import type { ServerResponse } from 'node:http';
import { http } from './node-http.ts';

/** Headers with lower-case names. */
export type Headers = Readonly<Record<string, string>>;

/** A set of headers as the lines that they are in an HTTP/1.1 head. */
export class HeaderLines {
  readonly headers: Headers;
  readonly #names: readonly string[];
  readonly #lines: string;

  /** Throws for a name or value that a header cannot have. */
  constructor(headers: Headers) {
    for (const [name, value] of Object.entries(headers)) {
      http.validateHeaderName(name);
      http.validateHeaderValue(name, value);
    }
    this.headers = headers;
    // A second line of Vary adds to the first.
    this.#names = Object.keys(headers).filter((name) => name !== 'vary');
    this.#lines = linesOf(headers);
  }

  /**
   * The lines of all headers that are neither among the given ones, whose names are in lower case, nor set on the
   * answer.
   */
  besides(given: Readonly<Record<string, unknown>>, answer: ServerResponse | undefined): string {
    for (const name of this.#names) {
      if (given[name] !== undefined || answer?.hasHeader(name)) return this.#rest(given, answer);
    }
    return this.#lines;
  }

  /** These headers and others, which replace those of the same name. */
  with(headers: Headers): HeaderLines {
    return new HeaderLines({ ...this.headers, ...headers });
  }

  #rest(given: Readonly<Record<string, unknown>>, answer: ServerResponse | undefined): string {
    const isThere = (name: string) =>
      this.#names.includes(name) && (given[name] !== undefined || answer?.hasHeader(name));
    return linesOf(Object.fromEntries(Object.entries(this.headers).filter(([name]) => !isThere(name))));
  }
}

function linesOf(headers: Headers): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}
