import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refuse, rejectSettings } from '@octavo/core';
import { html } from '@octavo/web/html';
import { type NewMail, type SecurityEvent, securityEvents } from './mail.ts';

/** The text of a mail. The subject contains no text from users. */
interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const shippedFolder = fileURLToPath(new URL('./templates/', import.meta.url));
const fallback = 'en';
const localeName = /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/;
const minuteMs = 60_000;
const placeholders = {
  'magic-link': ['service', 'link', 'code', 'minutes', 'expires', 'asker'],
  security: ['service', 'what', 'when'],
} as const;

type Kind = NewMail['kind'];
type Values = Readonly<Record<string, string>>;

/** The templates of one language. */
interface Locale {
  readonly kinds: Readonly<Record<Kind, Readonly<Record<keyof MailText, Template>>>>;
  readonly events: Readonly<Record<SecurityEvent, string>>;
  /** A sentence in links that a signed-in user asked for. */
  readonly signedInAsker: string;
}

/** The key of that sentence in `events.json`. */
const signedInAskerKey = 'link-asked-while-signed-in';

/**
 * The templates of the mails by language, read once. The operator's folder can replace any shipped file and add languages:
 * `<language>/magic-link.txt`, `magic-link.html`, `security.txt`, `security.html`, `events.json`. Files that it lacks are as shipped.
 */
export class MailTexts {
  readonly #service: string;
  readonly #locales: ReadonlyMap<string, Locale>;

  constructor({ service, folder }: { service: string; folder?: string | undefined }) {
    this.#service = service;
    const folders = folder === undefined ? [shippedFolder] : [folder, shippedFolder];
    const names = new Set(folders.flatMap(localesIn));
    this.#locales = new Map([...names].map((name) => [name, readLocale(folders, name)]));
  }

  render(mail: NewMail, nowMs: number): MailText {
    const locale = this.#localeFor(mail.locale);
    const { subject, text, html: markup } = locale.kinds[mail.kind];
    const values: Values = { service: this.#service, ...valuesOf(mail, locale, nowMs) };
    // Never left out, also where the template of an operator has no place for it.
    const { asker = '' } = values;
    return {
      subject: subject.fill(values).replace(/\s+/g, ' ').trim(),
      text: text.fill(values) + (text.uses('asker') ? '' : asker && `\n${asker}\n`),
      html: markup.fill(inMarkup(values)) + (markup.uses('asker') ? '' : asker && html`<p>${asker}</p>`),
    };
  }

  #localeFor(acceptLanguage: string | undefined): Locale {
    const wanted = preferences(acceptLanguage).flatMap((tag) => [tag, tag.split('-')[0] ?? tag]);
    const name = wanted.find((tag) => this.#locales.has(tag)) ?? fallback;
    return this.#locales.get(name) as Locale;
  }
}

function valuesOf(mail: NewMail, locale: Locale, nowMs: number): Values {
  if (mail.kind === 'security') return { what: locale.events[mail.event], when: instant(nowMs) };
  const minutes = Math.max(1, Math.round((mail.expiresAtMs - nowMs) / minuteMs));
  return {
    link: mail.link,
    code: mail.code,
    minutes: String(minutes),
    expires: instant(mail.expiresAtMs),
    asker: mail.isAskerSignedIn ? locale.signedInAsker : '',
  };
}

function instant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function inMarkup(values: Values): Values {
  return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, String(html`${text}`)]));
}

/** A text with placeholders such as `{{name}}`. */
class Template {
  /** Texts and names of placeholders, in turn. */
  readonly #parts: readonly string[];

  constructor(text: string) {
    this.#parts = text.split(/\{\{(\w+)\}\}/);
  }

  uses(name: string): boolean {
    return this.#parts.some((part, index) => index % 2 === 1 && part === name);
  }

  fill(values: Values): string {
    let filled = '';
    for (const [index, part] of this.#parts.entries())
      filled += index % 2 === 0 ? part : (values[part] ?? '');
    return filled;
  }
}

/** The languages of an Accept-Language (RFC 9110 section 12.5.4), best first. */
function preferences(acceptLanguage: string | undefined): string[] {
  if (!acceptLanguage) return [];
  const ranges = acceptLanguage.slice(0, 200).split(',');
  const weighted = ranges.map((range) => {
    const [tag = '', weight] = range.toLowerCase().split(';');
    const q = Number(/^\s*q=([\d.]+)\s*$/.exec(weight ?? 'q=1')?.[1] ?? 0);
    return { tag: tag.trim(), q };
  });
  return weighted
    .filter(({ q }) => q > 0)
    .sort((one, other) => other.q - one.q)
    .map(({ tag }) => tag);
}

function localesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => localeName.test(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return rejectSettings({ PASSWORDLESS_MAIL_TEMPLATES: `cannot be read: ${code}` });
  }
}

function readLocale(folders: readonly string[], name: string): Locale {
  const magicLink = readKind(folders, name, 'magic-link');
  const security = readKind(folders, name, 'security');
  const sentences = JSON.parse(readFile(folders, name, 'events.json').content) as Record<string, unknown>;
  const shipped = JSON.parse(readFile([shippedFolder], fallback, 'events.json').content) as Record<
    string,
    string
  >;
  const events = Object.fromEntries(
    securityEvents.map((event) => [event, String(sentences[event] ?? shipped[event])]),
  ) as Record<SecurityEvent, string>;
  const signedInAsker = String(sentences[signedInAskerKey] ?? shipped[signedInAskerKey]);
  return { kinds: { 'magic-link': magicLink, security }, events, signedInAsker };
}

/** A text file starts with the subject and an empty line. */
function readKind(folders: readonly string[], locale: string, kind: Kind): Locale['kinds'][Kind] {
  const file = readFile(folders, locale, `${kind}.txt`);
  const match = /^Subject: (.+)\r?\n\r?\n([\s\S]+)$/.exec(file.content);
  if (match === null) fault(file.path, 'must start with "Subject: ..." and an empty line');
  const [, subject = '', text = ''] = match ?? [];
  const markup = readFile(folders, locale, `${kind}.html`);
  check(file, kind);
  check(markup, kind);
  return { subject: new Template(subject), text: new Template(text), html: new Template(markup.content) };
}

function check({ path, content }: File, kind: Kind): void {
  const allowed: readonly string[] = placeholders[kind];
  const used = [...content.matchAll(/\{\{(.*?)\}\}/g)].map(([, name = '']) => name);
  const unknown = used.find((name) => !allowed.includes(name));
  if (unknown !== undefined) fault(path, `uses {{${unknown}}}; known are ${allowed.join(', ')}`);
  if (kind === 'magic-link' && !used.includes('link')) fault(path, 'must hold {{link}}');
}

interface File {
  readonly path: string;
  readonly content: string;
}

function readFile(folders: readonly string[], locale: string, name: string): File {
  const candidates = [locale, fallback].flatMap((language) =>
    folders.map((folder) => join(folder, language, name)),
  );
  const path = candidates.find((candidate) => existsSync(candidate)) as string;
  return { path, content: readFileSync(path, 'utf8') };
}

function fault(path: string, problem: string): void {
  refuse({ PASSWORDLESS_MAIL_TEMPLATES: `holds ${path}, which ${problem}` });
}
