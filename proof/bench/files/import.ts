import { PageClient } from '@octavo/testing';
import { finished, type Person, password, type TestBudgets } from '../../../services/budgets/testing.ts';

export interface ImportedRow {
  readonly day: string;
  readonly minor: number;
  readonly description: string;
  readonly category: string | null;
}

/** Outcome of an import: the words of a refusal, or the result of the task and the expenses that came of it. */
export interface Outcome {
  readonly refused?: string;
  // biome-ignore lint/suspicious/noExplicitAny: compared with what a case expects
  readonly result?: any;
  readonly rows: readonly ImportedRow[];
  /** Values of the page's form. */
  readonly fields?: Readonly<Record<string, string>>;
}

export interface GivenFile {
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly currency: string;
}

/** Imports a file by the API with these options, into a budget of a new account. */
export async function importByApi(app: TestBudgets, file: GivenFile, options: object): Promise<Outcome> {
  const { person, budgetId } = await newBudget(app, file);
  const form = new FormData();
  form.append('budgetId', budgetId);
  for (const [name, value] of Object.entries(options))
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  form.append('file', new Blob([file.content]), file.name);
  const { status, text, json } = await person.send('/api/import', { method: 'POST', body: form });
  if (status !== 202) return { refused: text, rows: [] };
  return outcomeOf(person, budgetId, json);
}

/** Imports a file on the page, and accepts the reading that it proposes to this reader. */
export async function importByPage(app: TestBudgets, file: GivenFile, language: string): Promise<Outcome> {
  const { person, budgetId } = await newBudget(app, file);
  const client = new PageClient(app.url);
  const headers = { 'accept-language': language };
  await client.open('/sign-in');
  await client.send('/sign-in', { email: person.email, password });
  await client.open('/import', { headers });
  const { location, html } = await client.upload('/import', file, { budget: budgetId });
  if (location === '') return { refused: noticeIn(html), rows: [] };
  const preview = await client.open(location, { headers });
  const fields = fieldsOf(preview.html);
  const [path = ''] = location.split('?');
  const sent = await client.send(path, { ...fields, do: 'import' }, headers);
  const [, id] = /tasks\/([0-9a-f-]{36})/.exec(sent.location) ?? [];
  if (id === undefined) {
    const { html: again } = await client.open(sent.location || location, { headers });
    return { fields, refused: noticeIn(again), rows: [] };
  }
  return { ...(await outcomeOf(person, budgetId, { id })), fields };
}

async function newBudget(
  app: TestBudgets,
  { currency }: GivenFile,
): Promise<{ person: Person; budgetId: string }> {
  const person = await app.person(`reader-${people++}`);
  const { id } = await person.create('/api/budgets', { name: 'Bank', limit: 100, currency });
  return { person, budgetId: id };
}

let people = 0;

async function outcomeOf(person: Person, budgetId: string, started: { id: string }): Promise<Outcome> {
  const { result, error } = await finished(person, started);
  if (!result) return { refused: JSON.stringify(error), rows: [] };
  const { json } = await person.get(`/api/expenses?budgetId=${budgetId}&limit=500`);
  // biome-ignore lint/suspicious/noExplicitAny: as the API sends it
  const rows = json.map(({ spentOn, amountMinor, description, category }: any) => ({
    day: spentOn,
    minor: amountMinor,
    description,
    category,
  }));
  return { result, rows };
}

function noticeIn(html: string): string {
  const [, text = ''] = /class="[^"]*(?:notice|error)[^"]*"[^>]*>(.*?)<\/(?:div|small|p)>/s.exec(html) ?? [];
  return text.replace(/<[^>]*>/g, '').trim() || 'for no reason that the page says';
}

/** The values that a browser would send for the form of the preview. */
function fieldsOf(html: string): Record<string, string> {
  const from = html.slice(html.indexOf('data-import'));
  const form = from.slice(0, from.indexOf('</form>'));
  const fields: Record<string, string> = {};
  for (const [, attributes = ''] of form.matchAll(/<input([^>]*)>/g)) {
    const name = attribute(attributes, 'name');
    if (name !== undefined && attribute(attributes, 'type') !== 'checkbox')
      fields[name] = attribute(attributes, 'value') ?? '';
  }
  for (const [, attributes = '', inner = ''] of form.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)) {
    const options = [...inner.matchAll(/<option([^>]*)>/g)].map(([, each = '']) => each);
    const chosen = options.find((each) => /\bselected\b/.test(each)) ?? options[0] ?? '';
    fields[attribute(attributes, 'name') ?? ''] = attribute(chosen, 'value') ?? '';
  }
  return fields;
}

const entities: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&' };

function attribute(attributes: string, name: string): string | undefined {
  const [, text] = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes) ?? [];
  return text?.replace(/&(?:#(\d+)|([a-z]+));/g, (whole, code: string | undefined, entity: string) =>
    code === undefined ? (entities[entity] ?? whole) : String.fromCodePoint(Number(code)),
  );
}
