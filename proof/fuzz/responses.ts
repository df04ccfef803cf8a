import { Ajv2020 } from 'ajv/dist/2020.js';
import { leakIn } from './leaks.ts';
import type { Findings } from './services.ts';
import type { Schema } from './values.ts';

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

/** An operation of `/openapi.json`. */
export interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** The document of an API. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** A response, with the words for a finding about it. */
export interface Response {
  readonly what: string;
  readonly example: string;
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Compares responses with the document of their API. */
export class ResponseChecks {
  readonly #findings: Findings;
  readonly #folder: string;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  readonly #rooted = new WeakMap<object, Schema>();
  /** Responses by status, to see that requests got through. */
  readonly statuses = new Map<number, number>();

  constructor(document: Document, findings: Findings, folder: string) {
    this.#findings = findings;
    this.#folder = folder;
    this.#ajv.addSchema(document, 'api');
  }

  /** Checks a response and returns its JSON, if it has any. Without an operation, only what holds for every response. */
  check({ what, example, ...response }: Response, operation: Operation | undefined): unknown {
    const { status, type, text, headers } = response;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    const shown = `${example}\n      -> ${status} ${type} ${text.slice(0, 400)}`;
    const find = (problem: string, detail = '') =>
      this.#findings.add(`${what}: ${problem}`, `${detail}${shown}`);
    // A busy machine may be overloaded.
    if (status >= 500 && ![503, 504].includes(status)) find(String(status));
    const leak = leakIn(text + JSON.stringify(headers), this.#folder);
    if (leak) find(`leaks ${leak}`);
    const json = jsonOf(response);
    if (json instanceof SyntaxError) find('its JSON cannot be read');
    if (operation) this.#compare(response, operation.responses[status], json, find);
    return json;
  }

  #compare(
    { status, type, text }: Pick<Response, 'status' | 'type' | 'text'>,
    documented: Operation['responses'][string] | undefined,
    json: unknown,
    find: (problem: string, detail?: string) => void,
  ): void {
    const media = documented?.content?.[type.split(';')[0] ?? ''] ?? documented?.content?.['*/*'];
    if (!documented) find(`${status} is not documented`);
    else if (!media && text !== '') find(`${type} of ${status} is not documented`);
    if (!media?.schema || json === undefined) return;
    const validate = this.#ajv.compile(this.#withRoot(media.schema));
    if (!validate(json))
      find(
        `the body of ${status} does not match its schema`,
        `${this.#ajv.errorsText(validate.errors)}\n      `,
      );
  }

  /** The schema with references to the document; the same object each time, since Ajv keeps what it compiled by object. */
  #withRoot(schema: Schema): Schema {
    const known = this.#rooted.get(schema);
    if (known) return known;
    const made = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'));
    this.#rooted.set(schema, made);
    return made;
  }
}

/** The JSON of a response; undefined if it has none or only a part, an error if it cannot be read. */
function jsonOf({ status, type, text }: Pick<Response, 'status' | 'type' | 'text'>): unknown {
  if (!/[/+]json\b/.test(type) || text === '' || status === 206) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}
