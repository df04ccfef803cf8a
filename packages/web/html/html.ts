import { isUrlAttribute, slotsOf } from './pages/page-placeholders.ts';

/** Markup that is safe to send. Only {@link html}, {@link attributes} and {@link trustedHtml} create it. */
export class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

/** A value between tags: text is escaped, arrays are joined, and `null`, `undefined` and booleans are left out. */
export type Content = Html | string | number | bigint | boolean | null | undefined | readonly Content[];

/** A value of an attribute: `true` gives the bare name; `false`, `null` and `undefined` leave the attribute out. */
export type AttributeValue = string | number | bigint | boolean | null | undefined;

class Attributes extends Html {}

/**
 * A fragment of HTML. Every `${value}` is escaped for its context: between tags, in a quoted attribute, or as {@link attributes}
 * inside a tag. Throws a `TypeError` for contexts in which no value is safe: unquoted attributes, scripts, styles, event
 * handlers, comments. In a URL attribute, a scheme that runs code becomes `about:invalid`.
 */
export function html(strings: TemplateStringsArray, ...values: (Content | Attributes)[]): Html {
  const slots = slotsOf(strings);
  let markup = strings[0] as string;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    const slot = slots[index];
    if (slot === 'content') markup += contentMarkup(value);
    else if (slot === 'tag') markup += tagMarkup(value);
    else markup += attributeMarkup(value, slot === 'url');
    markup += strings[index + 1] as string;
  }
  return new Html(markup);
}

/** Attributes from a record, each with a space before it: `html`<input${attributes({ name, required: true })}>``. */
export function attributes(values: Readonly<Record<string, AttributeValue>>): Html {
  let markup = '';
  for (const [name, value] of Object.entries(values)) {
    if (value === false || value === null || value === undefined) continue;
    if (!/^[a-z][a-z0-9-]*$/i.test(name) || /^(on|style$|srcdoc$)/i.test(name)) {
      throw new TypeError(`the attribute ${name} cannot be set`);
    }
    markup += value === true ? ` ${name}` : ` ${name}="${attributeMarkup(value, isUrlAttribute(name))}"`;
  }
  return new Attributes(markup);
}

/** Takes text as markup, unescaped. Use it only for markup that no user can influence, such as a file of this project. */
export function trustedHtml(markup: string): Html {
  return new Html(markup);
}

/** Escapes the five characters that have a meaning in HTML. */
export function escapeHtml(text: string): string {
  return special.test(text) ? text.replace(allSpecial, (character) => references[character] as string) : text;
}

function contentMarkup(value: Content): string {
  if (value instanceof Attributes) throw new TypeError('attributes() belongs inside a tag');
  if (value instanceof Html) return value.toString();
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(contentMarkup).join('');
  if (value === null || value === undefined || typeof value === 'boolean') return '';
  throw new TypeError('a template holds text, numbers, html or arrays of them');
}

function tagMarkup(value: unknown): string {
  if (value instanceof Attributes) return value.toString();
  throw new TypeError('inside a tag only attributes() is allowed');
}

function attributeMarkup(value: unknown, isUrl: boolean): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    throw new TypeError('an attribute in a template holds text or a number; use attributes() for others');
  }
  const text = String(value);
  return isUrl && runsCode(text) ? 'about:invalid' : escapeHtml(text);
}

// Browsers ignore control characters and white space in a scheme (WHATWG URL, basic URL parser).
function runsCode(url: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers skip these
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url.replace(/[\u0000-\u0020]/g, ''))?.[1];
  return scheme !== undefined && !/^(https?|mailto|tel|otpauth)$/i.test(scheme);
}

const special = /[&<>"']/;
const allSpecial = /[&<>"']/g;
const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
