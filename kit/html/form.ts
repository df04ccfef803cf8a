import type { Fields } from '../errors.ts';
import { notice } from './blocks.ts';
import { type AttributeValue, attributes, type Content, type Html, html } from './html.ts';
import { icon } from './icons.ts';

export interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly value?: string | number | undefined;
  readonly help?: Content;
  /** What is wrong with the value, to be read after the name: "must be at most 500 characters". */
  readonly error?: string | undefined;
  /** `text` by default; `textarea` and `select` give these elements. */
  readonly type?: 'text' | 'search' | 'password' | 'number' | 'email' | 'file' | 'textarea' | 'select';
  /** For `select`: value and label of each choice. */
  readonly choices?: readonly (readonly [value: string, label: string])[];
  /** Shows below the field how many of these code points are used while typing. */
  readonly countMax?: number;
  /** Shown on phones only, but always sent. */
  readonly phoneOnly?: boolean;
  /** Further attributes, such as `autocomplete`, `required` or `inputmode`. */
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
}

/** A form control with its label above, its help and its error below, all linked for screen readers. */
export function field(options: FieldOptions): Html {
  const { name, label, error, help, countMax } = options;
  const id = `field-${name}`;
  const hasHelp = help !== undefined || countMax !== undefined;
  const describedBy = [error && `${id}-error`, hasHelp && `${id}-help`].filter(Boolean).join(' ');
  const shared = attributes({
    id,
    name,
    'aria-describedby': describedBy || undefined,
    'aria-invalid': error ? 'true' : undefined,
    'data-count-max': countMax,
    ...options.attributes,
  });
  return html`<div class="field${options.phoneOnly ? ' phone' : ''}"><label for="${id}">${label}</label>${control(options, shared)}
${error && html`<p class="wrong" id="${id}-error">${icon('alert')}${sentence(label, error)}</p>`}
${hasHelp && html`<p class="help" id="${id}-help"><span>${help}</span>${countMax && html`<span data-count="${name}"></span>`}</p>`}</div>`;
}

/** A checkbox with its label. */
export function checkbox(options: {
  name: string;
  label: Content;
  checked?: boolean;
  error?: string | undefined;
}): Html {
  const id = `field-${options.name}`;
  const error = options.error;
  return html`<div class="field"><label class="check"><input type="checkbox" value="true"${attributes({
    id,
    name: options.name,
    checked: options.checked,
    'aria-invalid': error ? 'true' : undefined,
    'aria-describedby': error ? `${id}-error` : undefined,
  })}><span>${options.label}</span></label>
${error && html`<p class="wrong" id="${id}-error">${icon('alert')}${error}</p>`}</div>`;
}

/**
 * A summary of the errors of a form, with a link to each field; empty if there are none.
 * @param labels the label of each field by its name, in the order of the form; other errors come last, without a link
 */
export function errorSummary(
  errors: Fields,
  labels: Readonly<Record<string, string>>,
  title?: string,
): Content {
  const known = Object.keys(labels).filter((name) => errors[name] !== undefined);
  const others = Object.keys(errors).filter((name) => labels[name] === undefined);
  const entries = [...known, ...others].map((name) => [name, errors[name] as string] as const);
  if (entries.length === 0) return undefined;
  const lines = entries.map(([name, message]) => {
    const label = labels[name];
    if (label === undefined) return html`<li>${sentence(name, message)}</li>`;
    return html`<li><a href="#field-${name}">${sentence(label, message)}</a></li>`;
  });
  return notice('bad', html`<ul>${lines}</ul>`, { title: title ?? 'Nothing was saved yet', id: 'errors' });
}

function control(options: FieldOptions, shared: Html): Html {
  const { type = 'text', value, choices = [] } = options;
  if (type === 'select') {
    return html`<select${shared}>${choices.map(
      ([choice, label]) =>
        html`<option value="${choice}"${attributes({ selected: choice === String(value) })}>${label}</option>`,
    )}</select>`;
  }
  // A parser drops one newline after the tag. Without an extra one, a text would lose its own first newline.
  if (type === 'textarea')
    return html`<textarea${shared}>
${value}</textarea>`;
  return html`<input type="${type}"${attributes({ value })}${shared}>`;
}

function sentence(label: string, error: string): string {
  return /^(is|must|has|does|can|was)\b/.test(error) ? `${label} ${error}` : error;
}
