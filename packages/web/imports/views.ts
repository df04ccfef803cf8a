import { AppError } from '@octavo/core';
import { encodings, isEncoding } from '@octavo/documents/letters';
import { card, linkButton, progress } from '../html/components/blocks.ts';
import { field } from '../html/components/form.ts';
import { table } from '../html/components/table.ts';
import { formatNumber } from '../html/format.ts';
import { type Content, type Html, html } from '../html/html.ts';
import type { ImportField, Mapping } from './columns.ts';

/** A choice of the encoding of a file, which is sent as `encoding`: by default as the file tells, which may be named. */
export function encodingField(chosen?: string, told?: string): Html {
  const byFile = told === undefined ? 'As the file says' : `As the file says (${told})`;
  return field({
    name: 'encoding',
    label: 'Encoding',
    type: 'select',
    value: chosen ?? '',
    choices: [['', byFile], ...encodings.map((each) => [each, each] as const)],
  });
}

/** The encoding in the field of {@link encodingField}; undefined for what the file tells. Throws `invalid_input`. */
export function encodingIn(sent: string | undefined): string | undefined {
  if (!sent) return undefined;
  if (!isEncoding(sent)) throw new AppError('invalid_input', 'Choose an encoding from the list.');
  return sent;
}

export interface FileFormOptions {
  /** The address that the form posts to. */
  readonly action: string;
  readonly csrfField: Html;
  readonly label: string;
  readonly help: Content;
  /** Endings and media types of the files, as in the attribute `accept`. */
  readonly accept: string;
  /** A file that is larger is not sent. */
  readonly bytesMax: number;
  /** Problem with the file, to be read after the label. */
  readonly error?: string | undefined;
  /** Fields before the file. */
  readonly fields?: Content;
  readonly cancelHref?: string;
}

/** The form that takes a file. The module `imports.js` of its page takes a dropped file too, and shows how much of it was sent. */
export function fileForm(options: FileFormOptions): Html {
  const { action, csrfField, label, help, accept, bytesMax, error, fields, cancelHref } = options;
  const input = field({
    name: 'file',
    label,
    type: 'file',
    error,
    help,
    attributes: { accept, required: true },
  });
  const cancel = cancelHref !== undefined && linkButton(cancelHref, 'Cancel', 'quiet');
  return card(
    undefined,
    html`<form class="form" method="post" action="${action}" enctype="multipart/form-data" data-drop data-bytes-max="${bytesMax}">${csrfField}${fields}
${input}
<div data-uploading hidden>${progress({ label: 'Uploading', value: 0 })}</div><div data-upload-problem role="alert"></div>
<div class="actions"><button>Continue</button>${cancel}</div></form>`,
  );
}

export interface ImportFormOptions {
  /** The address of the preview, which the form posts to. */
  readonly action: string;
  readonly csrfField: Html;
  /** Choices of how to read the file, and hidden fields. */
  readonly fields?: Content;
  /** The button's label; undefined if the file cannot be imported like this. */
  readonly label: string | undefined;
}

/**
 * The form that imports a file after its preview: it sends `do` as `import`, `preview` or `cancel`. On a page with the module
 * `imports.js` it shows the progress, in numbers of the lines of JSON that the service sends to such a request.
 */
export function importForm({ action, csrfField, fields, label }: ImportFormOptions): Html {
  const run = label !== undefined && html`<button name="do" value="import">${label}</button>`;
  return html`<form class="stack" method="post" action="${action}" data-import>${csrfField}${fields}
<div class="actions">${run}<button class="quiet" name="do" value="cancel">Choose another file</button></div></form>
<template data-import-running>${card(
    undefined,
    html`<div class="stack">${progress({ label: 'Importing', value: 0 })}
<div data-import-problem role="alert"></div>
<div class="actions"><button type="button" data-import-continue hidden>Continue</button><button type="button" class="secondary" data-import-stop>Stop</button></div></div>`,
  )}</template>`;
}

/** A choice of the file's column for each field. They are sent as `map-NAME`. */
export function mappingFields(
  fields: readonly ImportField[],
  mapping: Mapping,
  header: readonly string[],
): Html[] {
  const columns = [...new Set(header.filter((name) => name !== ''))].map((name) => [name, name] as const);
  return fields.map(({ name, label, isRequired }) =>
    field({
      name: `map-${name}`,
      label,
      type: 'select',
      value: mapping[name] ?? '',
      choices:
        isRequired && mapping[name] ? columns : [['', isRequired ? 'Choose a column' : 'None'], ...columns],
    }),
  );
}

/** The mapping in the fields of {@link mappingFields}; undefined if none of them was sent. */
export function mappingIn(
  fields: readonly ImportField[],
  sentAs: (name: string) => string | undefined,
): Mapping | undefined {
  const sent = fields.map(({ name }) => [name, sentAs(`map-${name}`)] as const);
  if (sent.every(([, column]) => column === undefined)) return undefined;
  return Object.fromEntries(sent.flatMap(([name, column]) => (column ? [[name, column]] : [])));
}

/** Problem with a row or line of a file. */
export interface RowProblem {
  readonly row: number;
  readonly message: string;
}

/** The rows of a file that cannot be imported, with their numbers. */
export function problemTable(caption: string, problems: readonly RowProblem[]): Html {
  return table({
    caption,
    isSmall: true,
    columns: [
      { header: 'Row', kind: 'number', cell: ({ row }: RowProblem) => formatNumber(row) },
      { header: 'Problem', cell: ({ message }) => message },
    ],
    rows: problems,
  });
}
