import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Random } from '../random.ts';
import { type Identity, identitiesOf, newClient } from './identities.ts';
import { type Document, type Operation, type Response, ResponseChecks } from './responses.ts';
import type { Findings, Services } from './services.ts';
import { oddTexts, toJson, toText, Values } from './values.ts';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: string | Buffer | undefined;
  /** The request is not one that the document describes, so neither is its response. */
  readonly isForeign: boolean;
}

const dispatcher = new Agent({ headersTimeout: 60_000, bodyTimeout: 60_000, connections: 8 });

/** The API of one service, called by its document. */
export class ApiFuzz {
  readonly #services: Services;
  readonly #findings: Findings;
  readonly #random: Random;
  readonly #name: string;
  readonly #url: string;
  readonly #operations: { path: string; method: string; operation: Operation }[];
  readonly #values: Values;
  readonly #identities: Identity[];
  readonly #checks: ResponseChecks;

  private constructor(
    name: string,
    document: Document,
    parts: { services: Services; findings: Findings; random: Random },
  ) {
    this.#services = parts.services;
    this.#findings = parts.findings;
    this.#random = parts.random;
    this.#name = name;
    this.#url = parts.services.sites.get(name) ?? '';
    this.#operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    this.#values = new Values(parts.random, document.components?.schemas);
    this.#identities = identitiesOf(name, parts.services, parts.random);
    this.#checks = new ResponseChecks(document, parts.findings, parts.services.folder);
  }

  get statuses(): ReadonlyMap<number, number> {
    return this.#checks.statuses;
  }

  static async open(
    name: string,
    parts: { services: Services; findings: Findings; random: Random },
  ): Promise<ApiFuzz> {
    const fuzz = new ApiFuzz(name, await documentOf(parts.services.sites.get(name) ?? ''), parts);
    for (const identity of fuzz.#identities) await identity.renew();
    for (const { role, headers } of fuzz.#identities)
      if (role !== 'stranger' && !headers.authorization)
        parts.findings.add(`${name}: no sign-in as ${role}`, 'the first sign-in failed');
    return fuzz;
  }

  /** Sends one request and checks its response. */
  async step(): Promise<void> {
    const random = this.#random;
    const { path, method, operation } = random.pick(this.#operations);
    const signedIn = this.#identities.slice(1);
    const identity = random.pick(random.chance(0.85) && signedIn.length > 0 ? signedIn : this.#identities);
    const sent = this.#compose(path, method, operation, identity);
    const what = `${this.#name} ${sent.method} ${path} as ${identity.role}`;
    const example = `${what}\n      ${sent.path.slice(0, 300)}\n      ${sent.headers.join(' | ').slice(0, 400)}\n      ${String(sent.body).slice(0, 500)}`;
    this.#services.underWay.add(example);
    try {
      const response = await this.#exchange(sent);
      const json = this.#checks.check({ ...response, what, example }, sent.isForeign ? undefined : operation);
      this.#values.learn(json);
      if (response.status === 401 && !sent.isForeign) await identity.renew();
    } catch (error) {
      if (!this.#services.isAlive()) throw error;
      const { message, code = '' } = error as Error & { code?: string };
      // The server may refuse a body by its headers and close the connection.
      const isRefused = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code) && sent.isForeign;
      if (!isRefused && code !== 'UND_ERR_INVALID_ARG') this.#findings.add(`${what}: ${message}`, example);
    } finally {
      this.#services.underWay.delete(example);
    }
  }

  async #exchange({ path, method, headers, body }: Sent): Promise<Omit<Response, 'what' | 'example'>> {
    const response = await request(this.#url + path, {
      dispatcher,
      method: method as 'GET',
      headers: [...headers],
      body: body ?? null,
      signal: AbortSignal.timeout(60_000),
    });
    const type = String(response.headers['content-type'] ?? '');
    const isStream = type.includes('event-stream');
    const bytes = isStream ? await firstOf(response.body) : Buffer.from(await response.body.arrayBuffer());
    return { status: response.statusCode, type, headers: response.headers, text: bytes.toString('utf8') };
  }

  #compose(path: string, method: string, operation: Operation, identity: Identity): Sent {
    const random = this.#random;
    const oddness = random.pick([0, 0, 0, 0.05, 0.2]);
    const headers: string[] = Object.entries({ ...newClient(random), ...identity.headers }).flat();
    for (const { name, schema, in: place } of operation.parameters ?? []) {
      if (place !== 'header' || !random.chance(0.3)) continue;
      const value = toText(this.#values.of(schema, 0.1));
      headers.push(name, inHeader(random.pick([value, '"v1"', '*', `key-${random.below(20)}`])));
    }
    const isForeign = this.#addOddHeaders(headers);
    const { body, type } = this.#bodyOf(operation.requestBody, oddness);
    if (type) headers.push('content-type', type);
    const target = this.#pathOf(path, operation, oddness) + this.#queryOf(operation, oddness);
    const sent = { method: method.toUpperCase(), path: target, headers, body, isForeign };
    return random.chance(0.08) ? this.#distort(sent) : sent;
  }

  #pathOf(path: string, { parameters = [] }: Operation, oddness: number): string {
    return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const schema = parameters.find((each) => each.name === name)?.schema;
      const value = this.#random.chance(0.8)
        ? this.#values.id()
        : toText(this.#values.of(schema, oddness, name));
      return encode(value.slice(0, 2_000)) || '0';
    });
  }

  #queryOf({ parameters = [] }: Operation, oddness: number): string {
    const random = this.#random;
    const query = new URLSearchParams();
    for (const { name, schema, in: place, required } of parameters) {
      if (place !== 'query' || !random.chance(required ? 0.9 : 0.35)) continue;
      for (let times = random.chance(0.03) ? 2 : 1; times > 0; times--) {
        const value = this.#values.of(schema, random.chance(0.2) ? 1 : oddness, name);
        query.append(name, toText(value).slice(0, 3_000).toWellFormed());
      }
    }
    if (random.chance(0.02)) query.append(random.pick(oddTexts).slice(0, 50).toWellFormed(), 'x');
    return query.size > 0 ? `?${query}` : '';
  }

  #bodyOf(
    requestBody: Operation['requestBody'],
    oddness: number,
  ): { body: string | Buffer | undefined; type?: string } {
    if (!requestBody) return { body: undefined };
    const type = this.#random.pick(Object.keys(requestBody.content));
    const value = this.#values.of(requestBody.content[type]?.schema, oddness);
    if (type.startsWith('multipart/')) return this.#multipart(value as object);
    if (type.includes('form-urlencoded')) {
      const pairs = Object.entries((value ?? {}) as object).map(([key, inner]) => [
        key.toWellFormed(),
        toText(inner).toWellFormed(),
      ]);
      return { body: String(new URLSearchParams(pairs)), type };
    }
    return { body: toJson(value), type };
  }

  #multipart(value: object): { body: Buffer; type: string } {
    const random = this.#random;
    const boundary = 'fuzz-boundary';
    const parts = Object.entries(value ?? {}).map(([name, inner]) => {
      const isFile = /file/.test(name);
      const fileName = random.pick([
        'a.txt',
        'a.csv',
        'a.html',
        'a.md',
        'a.pdf',
        'a.docx',
        '../../a.json',
        'ä\u202e.eml',
        `${'n'.repeat(300)}.txt`,
      ]);
      const disposition = `form-data; name="${name}"${isFile ? `; filename="${fileName}"` : ''}`;
      return `--${boundary}\r\nContent-Disposition: ${disposition}\r\n\r\n${isFile ? this.#fileText() : toText(inner)}\r\n`;
    });
    const end = random.pick([
      `--${boundary}--\r\n`,
      `--${boundary}--\r\n`,
      `--${boundary}--\r\n`,
      '',
      `--${boundary}`,
    ]);
    return { body: Buffer.from(parts.join('') + end), type: `multipart/form-data; boundary=${boundary}` };
  }

  #fileText(): string {
    return this.#random.pick([
      'date,description,amount\n2026-01-02,Tea,"1,250.00"\n2026-01-03,Cake,-3\n',
      '!Type:Bank\nD01/02/2026\nT-12.50\nPTea\n^\n',
      '<OFX><STMTTRN><DTPOSTED>20260102<TRNAMT>-1<FITID>1<NAME>Tea</STMTTRN></OFX>',
      '<html><p>Everybody has 27 days of vacation.<div hidden>secret</div>',
      '# Handbook\n\nEverybody has 27 days of vacation.\n',
      '%PDF-1.7\n1 0 obj <</Type/Catalog>> endobj\ntrailer <</Root 1 0 R>>',
      'PK\u0003\u0004broken',
      'From: a@example.com\nSubject: =?utf-8?B?////?=\n\nHello',
      '{"team":[],"investments":[],"sectors":[]}',
      this.#random.pick(oddTexts),
      '"'.repeat(5_000),
      `${'a,'.repeat(3_000)}\n`.repeat(3),
    ]);
  }

  /** Adds headers that servers often stumble over. Returns true if the response may be another than the document says. */
  #addOddHeaders(headers: string[]): boolean {
    const random = this.#random;
    if (!random.chance(0.12)) return false;
    const [name, value, isForeign = false] = random.pick<readonly [string, string, boolean?]>([
      ['authorization', 'Bearer', true],
      ['authorization', 'Basic Og==', true],
      ['authorization', `Bearer ${'a.'.repeat(2_000)}`, true],
      ['authorization', 'Token a b c', true],
      ['accept', 'text/html'],
      ['accept', 'image/webp;q=0, */*;q=0'],
      ['accept', `${'a/b,'.repeat(500)}c/d`],
      ['accept-encoding', 'gzip;q=1, zstd;q=0.5, *;q=0'],
      ['accept-language', 'de-DE,xx-1;q=9,,;'],
      ['if-none-match', '*'],
      ['if-none-match', '"v1", W/"v2", broken'],
      ['range', 'bytes=5-2,0-,-1'],
      ['x-request-id', inHeader(random.pick(oddTexts))],
      ['x-forwarded-for', 'not an address, ::1'],
      ['x-forwarded-host', 'evil.example'],
      ['x-forwarded-proto', 'gopher'],
      ['forwarded', 'for=evil;host=evil.example'],
      ['x-http-method-override', 'DELETE'],
      ['x-mfa-verified', 'true'],
      ['origin', 'null'],
      ['origin', 'https://evil.example', true],
      ['sec-fetch-site', 'cross-site', true],
      ['cookie', `${'a=b; '.repeat(100)}__proto__=1; =; ;`],
      ['idempotency-key', `key-${random.below(20)}`],
      ['content-encoding', 'gzip', true],
      [
        'content-type',
        random.pick([
          'text/plain',
          'application/xml',
          'application/json; charset=utf-16',
          '',
          '/',
          'application/json, text/html',
        ]),
        true,
      ],
    ]);
    headers.push(name, value);
    return isForeign;
  }

  /** The request with one thing that no client of the document does. */
  #distort(sent: Sent): Sent {
    const random = this.#random;
    const body = String(sent.body ?? '');
    return {
      ...sent,
      isForeign: true,
      ...random.pick<() => Partial<Sent>>([
        () => ({
          method: random.pick(['PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'HEAD']),
        }),
        () => ({ body: body.slice(0, body.length / 2) }),
        () => ({ body: Buffer.from([0xff, 0xfe, ...Buffer.from(body), 0xc0]) }),
        () => ({ body: `${body}${body}` }),
        () => ({ body: '' }),
        () => ({ path: `${sent.path}/..;/%2e%2e/%00` }),
        () => ({ path: sent.path.replace('/', '//') }),
        () => ({ path: `${sent.path}?${'a=1&'.repeat(1_000)}` }),
        () => ({ headers: [...sent.headers, 'authorization', 'Bearer second'] }),
        () => ({
          headers: sent.headers.filter((_, index) => sent.headers[index - (index % 2)] !== 'content-type'),
        }),
      ])(),
    };
  }
}

/** The document of an API. A service that has just started may still be overloaded. */
async function documentOf(url: string): Promise<Document> {
  for (;;) {
    const response = await fetch(`${url}/openapi.json`);
    if (response.ok) return (await response.json()) as Document;
    await delay(200);
  }
}

/** The first second of a stream. */
async function firstOf(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Buffer> {
  const parts: Buffer[] = [];
  const timer = setTimeout(() => body.destroy(), 1_000);
  try {
    for await (const part of body) parts.push(part);
  } catch {
    // It was destroyed.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(parts);
}

/** A part of a path; a lone surrogate stays, as the bytes that a careless client sends. */
function encode(text: string): string {
  return Array.from(text, (letter) =>
    letter.isWellFormed() ? encodeURIComponent(letter) : '%ED%A0%80',
  ).join('');
}

/** A text that HTTP clients let through in a header. */
function inHeader(text: string): string {
  return Buffer.from(text.replaceAll(/\p{Cc}/gu, ' ').slice(0, 1_000)).toString('latin1');
}
