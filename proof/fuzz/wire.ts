import { connect } from 'node:net';
import type { Random } from '../random.ts';
import type { Findings, Services } from './services.ts';

const lateMs = 20_000;

/** Bytes that no HTTP client sends, by name, with the statuses that are right. Empty: the connection is only closed. */
const messages: readonly (readonly [name: string, bytes: string, statuses: readonly number[]])[] = [
  ['two lengths', 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd', [400]],
  [
    'a length and chunks',
    'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
    [400],
  ],
  [
    'chunks twice',
    'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
    [400, 501],
  ],
  [
    'an encoding that is none',
    'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
    [400, 501],
  ],
  ['a space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n', [400]],
  ['a bare line feed', 'GET / HTTP/1.1\nHost: a\n\n', [400]],
  ['a bare carriage return in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n', [400]],
  ['a folded header', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n', [400]],
  ['two hosts', 'GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', [400]],
  ['no host', 'GET /health HTTP/1.1\r\n\r\n', [400]],
  ['a host with a path', 'GET /health HTTP/1.1\r\nHost: a/b?c\r\n\r\n', [200, 400, 421]],
  [
    'an absolute address of another host',
    'GET http://evil.example/health HTTP/1.1\r\nHost: a\r\n\r\n',
    [200, 400, 404, 421],
  ],
  ['an authority', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: a\r\n\r\n', [400, 404, 405]],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', [200, 204, 400, 404]],
  ['a negative length', 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n', [400]],
  [
    'a length that is too large',
    'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n',
    [400, 413],
  ],
  [
    'a chunk of a negative size',
    'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\na\r\n',
    [400, 401, 404],
  ],
  ['a header of 100 kB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`, [431]],
  ['a path of 100 kB', `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, [414, 431]],
  ['5,000 headers', `GET / HTTP/1.1\r\nHost: a\r\n${'X: a\r\n'.repeat(5_000)}\r\n`, [400, 431]],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 405, 505]],
  ['HTTP/0.9', 'GET /\r\n', [400, 408]],
  ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003', [400]],
  ['nothing but line ends', '\r\n\r\n\r\n\r\nGARBAGE\r\n\r\n', [400]],
  ['a NUL in the path', 'GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n', [400]],
  [
    'an expectation',
    'POST /a HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nContent-Length: 1\r\n\r\na',
    [400, 401, 404, 417],
  ],
  [
    'an upgrade to something',
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
    [200, 302, 303, 400, 401, 403, 426],
  ],
];

/** Sends bytes that are no proper HTTP to a random service. */
export class WireFuzz {
  readonly #services: Services;
  readonly #findings: Findings;
  readonly #random: Random;

  constructor({ services, findings, random }: { services: Services; findings: Findings; random: Random }) {
    this.#services = services;
    this.#findings = findings;
    this.#random = random;
  }

  async step(): Promise<void> {
    const [service, url] = this.#random.pick([...this.#services.sites]);
    const [name, bytes, statuses] = this.#random.pick(messages);
    const text = await exchange(Number(new URL(url).port), bytes);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
    const answers = text.match(/^HTTP\/1\.1 \d{3}/gm)?.length ?? 0;
    if (answers > 1) this.#findings.add(`${service} answers ${name} twice`, text.slice(0, 800));
    if (status !== 0 && !statuses.includes(status))
      this.#findings.add(`${service} answers ${name} with ${status}`, text.slice(0, 500));
    if (status === 0 && !['HTTP/2', 'TLS', 'an authority', 'an upgrade to something'].includes(name))
      this.#findings.add(`${service} does not answer ${name}`, JSON.stringify(text.slice(0, 300)));
  }
}

function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1');
    let quiet: NodeJS.Timeout | undefined;
    const end = () => socket.destroy();
    const late = setTimeout(end, lateMs);
    socket
      .on('connect', () => socket.write(Buffer.from(bytes, 'latin1')))
      .on('data', (part) => {
        received += part.toString('latin1');
        // A second response would follow at once.
        clearTimeout(quiet);
        quiet = setTimeout(end, 100);
      })
      .on('error', () => undefined)
      .on('close', () => {
        clearTimeout(late);
        clearTimeout(quiet);
        resolve(received);
      });
  });
}
