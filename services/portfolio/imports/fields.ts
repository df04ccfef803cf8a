import { guessMapping, type ImportField } from '#kit/imports/columns.ts';
import { headerOf } from '#kit/imports/rows.ts';
import { imported, type Kind, kinds } from '../records.ts';

/** Labels of the fields that a CSV column can be imported into, with the names that other programs give to it. */
const fields: Readonly<Record<string, readonly [label: string, synonyms?: string]>> = {
  name: ['Name', 'fullname person sector'],
  company: ['Company', 'name portfoliocompany investment startup'],
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
  amount: ['Amount', 'amountinvested investedamount invested investment ticket ticketsize sum value'],
  amount_minor: ['Amount in the smallest unit', 'amountcents'],
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

/** Fields that a file may have in place of others: amounts as people write them, where there is no column of an export of the API. */
function propertiesOf(kind: Kind, header: readonly string[]): Readonly<Record<string, object>> {
  const { properties } = imported[kind] as { properties: Readonly<Record<string, object>> };
  if (kind !== 'investments' || header.some((name) => /^amount[\s_]*(minor|cents)$/i.test(name.trim())))
    return properties;
  const { amount_minor: amount = {}, ...others } = properties;
  return { ...others, amount };
}

/** Fields of a kind that a column can be imported into, those that are required first. */
export function importFieldsOf(kind: Kind, header: readonly string[]): ImportField[] {
  const properties = propertiesOf(kind, header);
  const all = Object.entries(fields).flatMap(([name, [label, synonyms = '']]) => {
    const schema = properties[name];
    if (schema === undefined) return [];
    const isRequired = !('~optional' in schema) && !('default' in schema);
    const ownName = label.toLowerCase().replace(/[^a-z]/g, '');
    return {
      name,
      label,
      isRequired,
      synonyms: [ownName, ...synonyms.split(' ').filter((each) => each !== '')],
    };
  });
  return all.sort((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

/** Guess about a file: JSON of all kinds, or CSV or a JSON list of one. */
export interface FileGuess {
  /** Undefined for JSON of all kinds, and for a list whose columns do not tell. */
  readonly kind: Kind | undefined;
  /** True for a list, which is of one kind. */
  readonly isList: boolean;
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
    return { kind: kindOf(header), isList: true, header };
  }
  const isList = /^\uFEFF?\s*\[/.test(content);
  if (!isList) return { kind: undefined, isList, header: [] };
  const names = content.slice(0, 10_000).match(/"[a-z_]+"(?=\s*:)/g) ?? [];
  return { kind: kindOf([...new Set(names.map((name) => name.slice(1, -1)))]), isList, header: [] };
}

/** The kind that has a field for most columns, if no other has as many and none of its required ones is missing. */
function kindOf(header: readonly string[]): Kind | undefined {
  const [best, second] = kinds
    .map((kind) => {
      const fields = importFieldsOf(kind, header);
      const mapping = guessMapping(fields, header);
      const isWhole = fields.every(({ name, isRequired }) => !isRequired || mapping[name] !== undefined);
      return { kind, isWhole, known: Object.keys(mapping).length };
    })
    .sort((one, other) => other.known - one.known);
  return best?.isWhole && best.known > (second?.known ?? 0) ? best.kind : undefined;
}
