import { attributes, type Content, type Html, html } from '../../html/html.ts';

/** The parts of an OpenAPI document that the page shows. */
export interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, object>> };
}

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses?: Readonly<Record<string, Body>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

interface Body {
  readonly description?: string;
  readonly content?: Readonly<Record<string, Media>>;
}

interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
}

type Schema = Readonly<Record<string, unknown>>;

interface Entry extends Operation {
  readonly method: string;
  readonly path: string;
}

/** All operations of an API by their tags, each folded up, then the shapes that they name. It needs no script. */
export function referencePage({ paths = {}, components = {} }: Document): Html {
  const entries = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Entry => ({ ...operation, method, path })),
  );
  const byTag = Map.groupBy(entries, ({ tags }) => tags?.[0] ?? 'Operations');
  const schemas = Object.entries(components.schemas ?? {});
  return html`<nav class="tags" aria-label="Parts">${[...byTag.keys()].map((tag) => html`<a href="#${idOf(tag)}">${tag}</a> `)}${schemas.length > 0 && html`<a href="#schemas">Schemas</a>`}</nav>
${[...byTag].map(([tag, operations]) => html`<section id="${idOf(tag)}"><h2>${tag}</h2>${operations.map(operationOf)}</section>`)}
${schemas.length > 0 && html`<section id="schemas"><h2>Schemas</h2>${schemas.map(([name, schema]) => html`<details id="schema-${name}"><summary>${name}</summary>${code(schema)}</details>`)}</section>`}`;
}

function operationOf(entry: Entry): Html {
  const {
    method,
    path,
    summary,
    description,
    parameters = [],
    requestBody,
    responses = {},
    deprecated,
  } = entry;
  return html`<details class="operation" id="${entry.operationId ?? idOf(`${method} ${path}`)}"><summary><b class="method ${method}">${method.toUpperCase()}</b> <code>${path}</code> <span>${summary}${deprecated && ' (deprecated)'}</span></summary>
${description && paragraphs(description)}${parameters.length > 0 && html`<h3>Parameters</h3>${parameterTable(parameters)}`}
${requestBody && html`<h3>Body</h3>${bodyOf(requestBody)}`}<h3>Responses</h3>${Object.entries(responses).map(responseOf)}</details>`;
}

function parameterTable(parameters: readonly Parameter[]): Html {
  return html`<table><thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${parameters.map(
    ({ name, in: place, required, description, schema = {} }) =>
      html`<tr><td><code>${name}</code>${required && ' (required)'}</td><td>${place}</td><td>${typeOf(schema)}</td><td>${description}</td></tr>`,
  )}</tbody></table>`;
}

/** Successes with their example, errors in a line. */
function responseOf([status, body]: [string, Body]): Html {
  const head = html`<p><b>${status}</b> ${body.description}</p>`;
  if (!status.startsWith('2')) {
    const codes = Object.values(body.content ?? {}).flatMap(({ examples = {} }) => Object.keys(examples));
    return codes.length > 0
      ? html`<p><b>${status}</b> ${body.description} <code>${codes.join(', ')}</code></p>`
      : head;
  }
  return html`${head}${bodyOf(body)}`;
}

function bodyOf({ content = {} }: Body): Content {
  return Object.entries(content).map(([type, { schema = {}, example, examples = {} }]) => {
    const shown = example ?? Object.values(examples)[0]?.value;
    return html`<p>${type} ${typeOf(schema)}</p>${shown === undefined ? !('$ref' in schema) && code(schema) : code(shown)}`;
  });
}

/** `Budget[]`, with links to the named schemas; else the kind with its bounds. */
function typeOf(schema: Schema): Content {
  const { $ref: reference, type, items, enum: values, minimum, maximum, maxLength } = schema;
  if (typeof reference === 'string') {
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (type === 'array') return html`${typeOf((items ?? {}) as Schema)}[]`;
  if (Array.isArray(values)) return values.join(' | ');
  const bounds = [
    minimum !== undefined && `≥ ${minimum}`,
    maximum !== undefined && `≤ ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
  ].filter((bound) => bound !== false);
  return [[type].flat().filter(Boolean).join(' or '), ...bounds].filter(Boolean).join(', ');
}

/** Paragraphs of a description, with its code set off. */
function paragraphs(text: string): Html[] {
  return text.split(/\n\n+/).map((paragraph) => {
    const parts = paragraph.split('`');
    return html`<p>${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}</p>`;
  });
}

function code(value: unknown): Html {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return html`<pre${attributes({ tabindex: 0 })}><code>${text}</code></pre>`;
}

function idOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
}
