import { partsOf, type TSchema } from '@octavo/core';
import { guessMapping, type ImportField, tableOf } from '@octavo/web/imports';
import { imported, type Kind, kinds } from '../records.ts';

/** Names that other programs give to the columns of fields. */
const synonyms: Readonly<Record<string, string>> = {
  name: 'fullname person sector',
  company: 'name portfoliocompany investment startup',
  sector: 'industry',
  sectors: 'industries',
  title: 'jobtitle position',
  bio: 'about',
  location: 'city office',
  email: 'emailaddress',
  joined_on: 'startdate',
  stage: 'round',
  amount: 'amountinvested investedamount invested investment ticket ticketsize sum value',
  amount_minor: 'amountcents',
  currency: 'currencycode',
  invested_on: 'date investmentdate',
  exited_on: 'exitdate',
  lead_id: 'leadpartner partner',
  team_ids: 'dealteam',
  lead_ids: 'partners',
  description: 'summary',
  website: 'url',
};

/** Fields that the software sets. */
const computed = ['updated_at'];

/** Fields that a file may have in place of others: amounts as people write them, where there is no column of an export of the API. */
function propertiesOf(kind: Kind, header: readonly string[]): Readonly<Record<string, TSchema>> {
  const { properties } = imported[kind] as { properties: Readonly<Record<string, TSchema>> };
  if (kind !== 'investments' || header.some((name) => /^amount[\s_]*(minor|cents)$/i.test(name.trim())))
    return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name === 'amount_minor' ? 'amount' : name, schema]),
  );
}

/** Fields of a kind that a column can be imported into, those that are required first. */
export function importFieldsOf(kind: Kind, header: readonly string[]): ImportField[] {
  const all = Object.entries(propertiesOf(kind, header)).flatMap(([name, field]) => {
    if (computed.includes(name)) return [];
    const { label, hasDefault, schema } = partsOf(name, field);
    const ownName = label.toLowerCase().replace(/[^a-z]/g, '');
    return {
      name,
      label: name === 'amount_minor' ? `${label} in the smallest unit` : label,
      isRequired: !hasDefault && !('default' in schema),
      synonyms: [ownName, ...(synonyms[name]?.split(' ') ?? [])],
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
  /** Lines above the names of columns, which are left out. */
  readonly above: number;
}

/** True for a file that begins as JSON does; else it is CSV. */
export function isJsonText(content: string): boolean {
  return /^\uFEFF?\s*[[{]/.test(content);
}

export function guessFile(content: string): FileGuess {
  if (!isJsonText(content)) {
    const { header, above } = tableOf(content, (cells) => kindOf(cells) !== undefined);
    return { kind: kindOf(header), isList: true, header, above };
  }
  const isList = /^\uFEFF?\s*\[/.test(content);
  if (!isList) return { kind: undefined, isList, header: [], above: 0 };
  const names = content.slice(0, 10_000).match(/"[a-z_]+"(?=\s*:)/g) ?? [];
  return { kind: kindOf([...new Set(names.map((name) => name.slice(1, -1)))]), isList, header: [], above: 0 };
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
