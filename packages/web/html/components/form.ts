import type { Fields } from '@octavo/core';
import { type AttributeValue, attributes, type Content, type Html, html } from '../html.ts';
import { icon } from '../icons.ts';
import { notice } from './blocks.ts';

export interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly value?: string | number | undefined;
  readonly help?: Content;
  /** Problem with the value, to be read after the name: "must be at most 500 characters". */
  readonly error?: string | undefined;
  /** `text` by default; `textarea` and `select` give these elements. */
  readonly type?:
    | 'text'
    | 'search'
    | 'password'
    | 'number'
    | 'email'
    | 'date'
    | 'file'
    | 'datetime-local'
    | 'textarea'
    | 'select';
  /** Value and label of each choice of a `select`. */
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
  const hasZone = options.type === 'datetime-local';
  const describedBy = [error && `${id}-error`, hasZone && `${id}-zone`, hasHelp && `${id}-help`];
  const shared = attributes({
    id,
    name,
    'aria-describedby': describedBy.filter(Boolean).join(' ') || undefined,
    'aria-invalid': error ? 'true' : undefined,
    'data-count-max': countMax,
    ...options.attributes,
  });
  return html`<div class="field${options.phoneOnly ? ' phone' : ''}"><label for="${id}">${label}</label>${control(options, shared)}${
    error &&
    html`
<p class="wrong" id="${id}-error">${icon('alert')}${sentence(label, error)}</p>`
  }${
    hasHelp &&
    html`
<p class="help" id="${id}-help"><span>${help}</span>${countMax && html`<span data-count="${name}"></span>`}</p>`
  }</div>`;
}

/**
 * A hidden field with the reader's time zone, which a script fills in, for forms with days. Empty without scripts: then days are
 * in UTC, and the form says so.
 */
export function timeZoneField(value: string | undefined): Html {
  return html`<input type="hidden" name="zone" value="${value ?? ''}" data-time-zone>`;
}

/** A checkbox with its label. */
export function checkbox(options: {
  name: string;
  /** The value that is sent; `true` by default. */
  value?: string;
  label: Content;
  checked?: boolean;
  help?: Content;
  error?: string | undefined;
}): Html {
  const id = `field-${options.name}`;
  const { error, help } = options;
  const hasHelp = help !== undefined;
  const describedBy = [error && `${id}-error`, hasHelp && `${id}-help`].filter(Boolean).join(' ');
  return html`<div class="field"><label class="check"><input type="checkbox" value="${options.value ?? 'true'}"${attributes(
    {
      id,
      name: options.name,
      checked: options.checked,
      'aria-invalid': error ? 'true' : undefined,
      'aria-describedby': describedBy || undefined,
    },
  )}><span>${options.label}</span></label>
${error && html`<p class="wrong" id="${id}-error">${icon('alert')}${error}</p>`}
${hasHelp && html`<p class="help" id="${id}-help"><span>${help}</span></p>`}</div>`;
}

/** One or several of a few choices, in rows. `disabled` shows them without letting anybody choose. The page needs the style `choices.css`. */
export function choiceGroup(options: {
  name: string;
  legend: Content;
  choices: readonly { value: string | number; label: Content }[];
  selected?: readonly (string | number)[];
  isMultiple?: boolean;
  help?: string | undefined;
  error?: string | undefined;
  disabled?: boolean;
}): Html {
  const { name, legend, choices, selected = [], isMultiple, help, error, disabled } = options;
  const isSelected = (value: string | number) => selected.some((each) => String(each) === String(value));
  const errorId = `field-${name}-error`;
  return html`<fieldset class="choices"${attributes({
    disabled,
    'aria-invalid': error ? 'true' : undefined,
    'aria-describedby': error ? errorId : undefined,
  })}><legend>${legend}</legend>
${help && html`<p class="muted">${help}</p>`}${error && html`<p class="wrong" id="${errorId}">${icon('alert')}${error}</p>`}
${choices.map(
  ({ value, label }, index) =>
    html`<label class="check"><input type="${isMultiple ? 'checkbox' : 'radio'}" value="${value}"${attributes(
      {
        // A summary of errors leads to the first one.
        id: index === 0 ? `field-${name}` : undefined,
        name,
        checked: isSelected(value),
      },
    )}><span>${label}</span></label>`,
)}</fieldset>`;
}

/** Several checkboxes of one name under a legend; those of `checked` are set. */
export function checkboxes(options: {
  name: string;
  label: string;
  choices: readonly (readonly [value: string, label: string])[];
  checked: readonly string[];
  help?: Content;
  error?: string | undefined;
}): Html {
  const { name, label, choices, checked, help, error } = options;
  const id = `field-${name}`;
  return html`<fieldset class="field checks" id="${id}" tabindex="-1"><legend>${label}</legend><div>${choices.map(
    ([value, text]) =>
      html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${attributes({ checked: checked.includes(value) })}><span>${text}</span></label>`,
  )}</div>${error && html`<p class="wrong" id="${id}-error">${icon('alert')}${sentence(label, error)}</p>`}
${help !== undefined && html`<p class="help"><span>${help}</span></p>`}</fieldset>`;
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
  return notice('bad', html`<ul>${lines}</ul>`, {
    title: title ?? 'Nothing has been saved yet',
    id: 'errors',
  });
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
  const input = html`<input type="${type}"${attributes({ value })}${shared}>`;
  // In UTC as sent; `time.js` shows it in the reader's time zone, and sends it in UTC again.
  if (type === 'datetime-local')
    return html`<span class="moment">${input}<span class="zone" id="field-${options.name}-zone" data-zone>UTC</span></span>`;
  if (type !== 'password') return input;
  // Only a script can show a password, so `forms.js` shows the button.
  return html`<span class="reveal">${input}<button type="button" class="quiet" data-reveal aria-controls="field-${options.name}" hidden><span>Show</span><span class="hidden"> ${options.label.toLowerCase()}</span></button></span>`;
}

function sentence(label: string, error: string): string {
  if (error.startsWith('This field ')) return error.replace('This field', label);
  return /^(is|must|has|does|can|could|was)\b/.test(error) ? `${label} ${error}` : error;
}
