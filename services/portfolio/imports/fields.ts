import { guessMapping, type ImportField } from '#kit/imports/columns.ts';
import { headerOf } from '#kit/imports/rows.ts';
import { imported, type Kind, kinds } from '../records.ts';

/** Labels of the fields that a CSV column can be imported into, with the names that other programs give to it. */
const fields: Readonly<Record<string, readonly [label: string, synonyms?: string]>> = {
  name: ['Name', 'fullname person sector'],
  company: ['Company', 'name investment portfoliocompany'],
  sector: ['Sector', 'industry'],
  sectors: ['Sectors', 'industries'],
  role: ['Role'],
  title: ['Title', 'jobtitle position'],
  bio: ['Biography', 'about'],
  location: ['Location', 'city office'],
  email: ['E-mail', 'emailaddress'],
  joined_on: ['Joined on', 'joined startdate'],
  links: ['Links'],
  stage: ['Stage', 'round'],
  status: ['Status'],
  amount_minor: ['Amount in minor units', 'amountcents'],
  currency: ['Currency', 'currencycode'],
  invested_on: ['Invested on', 'date investmentdate'],
  exited_on: ['Exited on', 'exitdate'],
  lead_id: ['Lead', 'leadpartner partner'],
  team_ids: ['Team', 'dealteam'],
  lead_ids: ['Leads', 'partners'],
  country: ['Country'],
  description: ['Description', 'summary'],
  website: ['Website', 'url'],
  slug: ['Slug'],
  id: ['ID'],
};

/** Fields of a kind that a column can be imported into, those that are required first. */
export function importFieldsOf(kind: Kind): ImportField[] {
  const { properties } = imported[kind] as { properties: Readonly<Record<string, object>> };
  const all = Object.entries(fields).flatMap(([name, [label, synonyms = '']]) => {
    const schema = properties[name];
    if (schema === undefined) return [];
    const isRequired = !('~optional' in schema) && !('default' in schema);
    return { name, label, isRequired, synonyms: synonyms.split(' ').filter((each) => each !== '') };
  });
  return all.sort((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

/** Guess about a file: JSON of all kinds, or CSV or a JSON list of one. */
export interface FileGuess {
  readonly kind: Kind | undefined;
  /** Columns of a CSV file. */
  readonly header: readonly string[];
}

/** True for a file that begins as JSON does; else it is CSV. */
export function isJsonText(content: string): boolean {
  return /^\uFEFF?\s*[[{]/.test(content);
}

export function guessFile(content: string): FileGuess {
  if (!isJsonText(content)) {
    const header = headerOf(content);
    return { kind: kindOf(header), header };
  }
  const isList = /^\uFEFF?\s*\[/.test(content);
  if (!isList) return { kind: undefined, header: [] };
  const names = content.slice(0, 10_000).match(/"[a-z_]+"(?=\s*:)/g) ?? [];
  return { kind: kindOf([...new Set(names.map((name) => name.slice(1, -1)))]), header: [] };
}

/** The kind most of whose fields have a column; of several, one without missing fields. */
function kindOf(header: readonly string[]): Kind {
  const scores = kinds.map((kind) => {
    const mapping = guessMapping(importFieldsOf(kind), header);
    const missing = importFieldsOf(kind).filter(({ name, isRequired }) => isRequired && !mapping[name]);
    return { kind, score: Object.keys(mapping).length - 10 * missing.length };
  });
  return scores.reduce((best, each) => (each.score > best.score ? each : best)).kind;
}
