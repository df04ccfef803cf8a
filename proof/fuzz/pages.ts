import { PageClient, type PageResponse } from '@octavo/testing';
import { Parser } from 'htmlparser2';
import type { Random } from '../random.ts';
import { newClient } from './identities.ts';
import { leakIn } from './leaks.ts';
import { type Findings, password, type Services } from './services.ts';
import { markup, oddTexts, Values } from './values.ts';

interface Field {
  readonly name: string;
  readonly kind: string;
  readonly value: string;
  readonly options: string[];
}

interface Form {
  readonly action: string;
  readonly method: string;
  readonly isMultipart: boolean;
  readonly fields: Field[];
}

interface Page {
  readonly forms: Form[];
  readonly links: string[];
}

/** Pages whose forms sign in, by service and role. */
const signIns: Readonly<
  Record<string, readonly (readonly [role: string, path: string, name: string, username: string])[]>
> = {
  gateway: [['administrator', '/sign-in', 'username', 'admin']],
  tokens: [['user', '/register', 'email', '']],
  passwordless: [['administrator', '/admin/login/', 'username', 'root']],
  polls: [['administrator', '/admin/login/', 'username', 'root']],
  quotes: [
    ['administrator', '/admin/login/', 'username', 'root'],
    ['user', '/accounts/signup/', 'username', ''],
  ],
  budgets: [
    ['administrator', '/admin/login/', 'username', 'root'],
    ['user', '/sign-up', 'email', ''],
  ],
  portfolio: [['administrator', '/admin/login/', 'username', 'root']],
};

const firstPaths = ['/', '/admin/', '/sign-in', '/account', '/posts/new', '/polls/', '/nothing-here'];
const pathsMax = 400;

interface Parts {
  readonly services: Services;
  readonly findings: Findings;
  readonly random: Random;
  readonly slowMs: number;
}

/** The pages of one service as one visitor sees them: links are followed, and forms are sent with odd values. */
export class PageFuzz {
  readonly #services: Services;
  readonly #findings: Findings;
  readonly #random: Random;
  readonly #values: Values;
  readonly #browser: PageClient;
  readonly #name: string;
  readonly #role: string;
  readonly #slowMs: number;
  readonly #paths = [...firstPaths];
  readonly statuses = new Map<number, number>();
  /** The request that took longest. */
  slowest = { tookMs: 0, what: '' };

  private constructor(name: string, role: string, parts: Parts) {
    this.#name = name;
    this.#role = role;
    this.#slowMs = parts.slowMs;
    this.#services = parts.services;
    this.#findings = parts.findings;
    this.#random = parts.random;
    this.#values = new Values(parts.random);
    this.#browser = new PageClient(parts.services.sites.get(name) ?? '');
  }

  get name(): string {
    return `pages of ${this.#name} as ${this.#role}`;
  }

  /** The visitors of a service: a stranger, and each who can sign in with a password. */
  static async open(name: string, parts: Parts): Promise<PageFuzz[]> {
    const visitors = [new PageFuzz(name, 'stranger', parts)];
    for (const [role, path, field, known] of signIns[name] ?? []) {
      const visitor = new PageFuzz(name, role, parts);
      const mine = `${name}${parts.random.below(1e9)}`;
      const username = known || (field === 'email' ? `${mine}@example.com` : mine);
      await visitor.#browser.open(path, { headers: newClient(parts.random) });
      const { status, location } = await visitor.#browser.send(
        path,
        { [field]: username, password, password1: password, password2: password, confirmation: password },
        newClient(parts.random),
      );
      if (status !== 302 && status !== 303)
        parts.findings.add(`${visitor.name}: no sign-in`, `${path} ${status} ${location}`);
      visitors.push(visitor);
    }
    return visitors;
  }

  /** Opens one page, and sends one of its forms. */
  async step(): Promise<void> {
    const random = this.#random;
    const path = this.#strange(random.pick(this.#paths));
    const page = await this.#load('GET', path);
    if (!page) return;
    for (const link of page.links)
      if (!this.#paths.includes(link) && !/logout|sign-out/.test(link)) this.#addPath(link);
    const forms = page.forms.filter(
      ({ action }) => !/logout|sign-out|password|account\/delete|demo-data|sign-out/.test(action),
    );
    if (forms.length > 0 && random.chance(0.8)) await this.#send(random.pick(forms), path);
  }

  #addPath(link: string): void {
    if (this.#paths.length < pathsMax) this.#paths.push(link);
    else this.#paths[firstPaths.length + this.#random.below(pathsMax - firstPaths.length)] = link;
  }

  /** The path, sometimes with a parameter or a part that no link has. */
  #strange(path: string): string {
    const random = this.#random;
    const odd = () => encodeURIComponent(random.pick(oddTexts).slice(0, 1_500).toWellFormed());
    if (random.chance(0.1)) return path.replace(/\d+|[0-9a-f-]{36}/, odd);
    if (!random.chance(0.25)) return path;
    const known = [...new URL(path, 'http://a').searchParams.keys()];
    const usual = [
      'page',
      'q',
      'search',
      'o',
      'sort',
      'next',
      'from',
      'to',
      'p',
      'e',
      'year__exact',
      'period',
      'cursor',
      'date',
      'limit',
    ];
    const name = random.pick(known.length > 0 && random.chance(0.6) ? known : usual);
    return `${path}${path.includes('?') ? '&' : '?'}${name}=${odd()}`;
  }

  async #send(form: Form, from: string): Promise<void> {
    const random = this.#random;
    const body = form.isMultipart ? new FormData() : new URLSearchParams();
    for (const field of form.fields) {
      const value = this.#valueOf(field);
      if (value === undefined) continue;
      if (field.kind === 'file') (body as FormData).append(field.name, ...fileFor(random));
      else body.append(field.name, value.toWellFormed());
      if (random.chance(0.02)) body.append(field.name, 'twice');
    }
    if (random.chance(0.05)) body.append('is_superuser', 'on');
    const target = new URL(form.action || from, 'http://a');
    if (form.method === 'GET')
      await this.#load('GET', `${target.pathname}?${new URLSearchParams(body as URLSearchParams)}`);
    else await this.#load('POST', target.pathname + target.search, body);
  }

  #valueOf({ name, kind, value, options }: Field): string | undefined {
    const random = this.#random;
    if (name === '_csrf') return random.chance(0.97) ? value : random.pick(oddTexts);
    if (kind === 'hidden') return random.chance(0.85) ? value : random.pick(oddTexts);
    if (kind === 'checkbox' || kind === 'radio') return random.chance(0.5) ? value || 'on' : undefined;
    if (kind === 'submit') return random.chance(0.5) ? value : undefined;
    if (random.chance(0.25)) return random.pick(oddTexts);
    if (kind === 'select') return options.length > 0 ? random.pick(options) : '';
    if (kind === 'password') return password;
    if (kind === 'number') return String(random.pick([0, 1, 12, -5, 1.5, 1e15]));
    if (kind === 'date') return '2026-03-01';
    if (/datetime|time/.test(kind)) return '2026-03-01T12:30';
    if (value && random.chance(0.5)) return value;
    return random.pick([
      `Text ${random.below(1e6)}`,
      markup,
      String(this.#values.of({ type: 'string' }, 0)),
      'a, b, c',
      '12.50',
      'USD',
    ]);
  }

  async #load(method: string, path: string, body?: FormData | URLSearchParams): Promise<Page | undefined> {
    const shown = body instanceof URLSearchParams ? String(body).slice(0, 500) : body && 'multipart';
    const example = `${this.name}: ${method} ${path.slice(0, 400)} ${shown ?? ''}`;
    this.#services.underWay.add(example);
    const startedMs = performance.now();
    try {
      const init: RequestInit = {
        method,
        headers: newClient(this.#random),
        signal: AbortSignal.timeout(60_000),
      };
      const response = await this.#browser.open(path, body ? { ...init, body } : init);
      this.#check(response, {
        example,
        tookMs: performance.now() - startedMs,
        what: `${this.name}: ${method} ${generalOf(path)}`,
      });
      const isPage = response.headers.get('content-type')?.startsWith('text/html');
      return isPage ? parse(response.html, path) : undefined;
    } catch (error) {
      if (!this.#services.isAlive()) throw error;
      this.#findings.add(`${this.name}: ${method} ${generalOf(path)}: ${(error as Error).message}`, example);
      return undefined;
    } finally {
      this.#services.underWay.delete(example);
    }
  }

  #check(
    response: PageResponse,
    { what, example, tookMs }: { what: string; example: string; tookMs: number },
  ): void {
    const { status, html, headers, location } = response;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    const shown = `${example}\n      -> ${status} ${headers.get('content-type')} ${html.slice(0, 300)}`;
    if (status >= 500 && ![503, 504].includes(status))
      this.#findings.add(`${what}: ${status}`, `${shown} ${/<main[\s\S]{0,600}/.exec(html)?.[0] ?? ''}`);
    if (tookMs > this.slowest.tookMs) this.slowest = { tookMs: Math.round(tookMs), what };
    if (tookMs > this.#slowMs) this.#findings.add(`${what}: slow`, `${Math.round(tookMs)} ms ${shown}`);
    if (html.includes('<fuzz-mark') && headers.get('content-type')?.startsWith('text/html'))
      this.#findings.add(
        `${what}: text is not escaped`,
        `${shown} ${/.{80}<fuzz-mark.{80}/.exec(html)?.[0]}`,
      );
    const isText = /^text\/html/.test(headers.get('content-type') ?? '');
    // The portal of a trial shows its folder, in the command that loads demo data.
    const leak = isText && this.#name !== 'portal' ? leakIn(html, this.#services.folder) : undefined;
    if (leak) this.#findings.add(`${what}: leaks ${leak}`, shown);
    if (location && /evil\.example|^javascript/.test(location) && !location.startsWith('/'))
      this.#findings.add(`${what}: leads to another site`, `${location} ${shown}`);
    const policy = headers.get('content-security-policy') ?? '';
    if (isText && (/unsafe-inline|unsafe-eval/.test(policy) || policy === '') && !/\/docs|graphql/.test(what))
      this.#findings.add(`${what}: no content security policy`, `${policy} ${shown}`);
  }
}

/** The path without what differs from one object to the next. */
function generalOf(path: string): string {
  return (path.split('?')[0] ?? '')
    .replaceAll(/\/(\d+|[0-9a-f-]{30,}|[^/]*%[^/]*|[^/]{60,})(?=\/|$)/g, '/...')
    .slice(0, 120);
}

function parse(html: string, from: string): Page {
  const forms: Form[] = [];
  const links: string[] = [];
  let form: Form | undefined;
  let select: Field | undefined;
  const parser = new Parser({
    onopentag(tag, attributes) {
      if (tag === 'a' && attributes.href) {
        const url = URL.parse(attributes.href, `http://own${from}`);
        if (url?.host === 'own') links.push(url.pathname + url.search);
      }
      if (tag === 'form') {
        const { action = '', method = 'get', enctype = '' } = attributes;
        form = {
          action,
          method: method.toUpperCase(),
          isMultipart: enctype.startsWith('multipart'),
          fields: [],
        };
        if (/^\/|^\?|^$/.test(action)) forms.push(form);
      }
      if (tag === 'option') select?.options.push(attributes.value ?? '');
      if (!form || !attributes.name) return;
      const kind = tag === 'input' ? (attributes.type ?? 'text') : tag === 'button' ? 'submit' : tag;
      if (!['input', 'button', 'select', 'textarea'].includes(tag)) return;
      const field = { name: attributes.name, kind, value: attributes.value ?? '', options: [] };
      form.fields.push(field);
      if (tag === 'select') select = field;
    },
    onclosetag(tag) {
      if (tag === 'form') form = undefined;
      if (tag === 'select') select = undefined;
    },
  });
  parser.end(html);
  return { forms, links };
}

function fileFor(random: Random): [Blob, string] {
  const content = random.pick([
    'date,description,amount\n2026-01-02,Tea,"1,250.00"\n',
    'title,body\nHello,World\n',
    '[{"title":"Hello","body":"World"}]',
    '{"team":[{"id":1,"name":"Ada"}],"investments":[],"sectors":[]}',
    'question_text,pub_date\nWho?,2026-01-01T00:00:00Z\n',
    'Everybody has 27 days of vacation.',
    '{'.repeat(50_000),
    '\0\0\0',
    ...oddTexts,
  ]);
  const name = random.pick(['a.csv', 'a.json', 'a.txt', 'a.ofx', `${markup}.csv`, 'a']);
  return [new Blob([content.toWellFormed()]), name];
}
