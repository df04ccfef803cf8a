import { type EntityFields, field, labelled, partsOf, type Static, Type, withoutLabels } from '@octavo/core';
import type { OffsetRequest } from '@octavo/web/rest';
import { slugLengthMax } from './words.ts';

/** Kinds of records, as addresses and files name them. */
export const kinds = ['team', 'investments', 'sectors'] as const;
export type Kind = (typeof kinds)[number];

const Id = Type.String({ format: 'uuid' });
const Slug = patterned(
  slugLengthMax,
  '^[\\p{Ll}\\p{Lo}\\p{N}]+(-[\\p{Ll}\\p{Lo}\\p{N}]+)*$',
  'words in lower case, joined by hyphens',
  'zoe-muller',
);
const Day = Type.String({ format: 'date', examples: ['2026-01-31'] });
const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T08:15:00.000Z'] });
const Amount = Type.Integer({ minimum: 0, description: 'In minor units of the currency' });
const Currency = { ...patterned(3, '^[A-Z]{3}$', 'a currency such as EUR', 'EUR'), default: 'USD' };
const Url = patterned(
  2_000,
  '^https?://[^\\s<>"]+$',
  'an address such as https://example.com',
  'https://harborlight.example',
);
const Email = patterned(
  254,
  '^[^\\s@<>"]+@[^\\s@<>"]+$',
  'an e-mail address',
  'zoe.muller@harborlight.example',
);
const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  format: 'text',
  // At least one letter or digit that shows, for the slug.
  pattern: '(?!\\p{Default_Ignorable_Code_Point})[\\p{L}\\p{N}]',
  'x-problem': 'must not be blank',
  examples: ['Zoë Müller'],
});
// Files may leave out what has a default. `format: 'text'` is text that every database can hold.
const Line = Type.String({ maxLength: 200, format: 'text', default: '' });
const Prose = Type.String({ maxLength: 5_000, format: 'text', default: '' });
const Links = Type.Record(Type.String(), Url);

/** Statuses of an investment, in words. */
export const statusWords = { active: 'Active', exited: 'Exited', written_off: 'Written off' } as const;

/** The fields of a person: the API, the pages, the admin and the imports take them from here, with their labels. */
export const memberFields = {
  name: field('Name', Name),
  role: field('Role', Line),
  title: field('Title', Line),
  bio: field('Biography', Prose),
  location: field('Location', Line),
  email: field('E-mail address', orNull(Email)),
  joined_on: field('Joined', orNull(Day)),
};
const memberLinks = { links: field('Links', { ...Links, default: {} }) };
const { joined_on, ...memberFacts } = withoutLabels(memberFields);

export const Member = Type.Object(
  {
    id: Id,
    slug: Slug,
    ...memberFacts,
    sectors: Type.Array(Slug, { description: 'Slugs of sectors' }),
    investment_ids: Type.Array(Id, { description: 'Latest first' }),
    joined_on,
    ...withoutLabels(memberLinks),
    updated_at: Time,
  },
  { title: 'Member' },
);
export type Member = Static<typeof Member>;

/** The fields of an investment that its company has. */
export const companyFields = { company: field('Company', Name) };

/** The fields of an investment besides, as {@link memberFields}. */
export const dealFields = {
  stage: field('Stage', Line),
  status: labelled(statusWords, { label: 'Status', default: 'active' }),
  amount_minor: field('Amount', Amount),
  currency: field('Currency', Currency),
  invested_on: field('Invested', Day),
  exited_on: field('Exited', orNull(Day)),
};
export const dealDetails = {
  country: field('Country', Line),
  description: field('Description', Prose),
  website: field('Website', orNull(Url)),
};

export const Investment = Type.Object(
  {
    id: Id,
    slug: Slug,
    ...withoutLabels(companyFields),
    sector: Slug,
    ...withoutLabels(dealFields),
    lead_id: orNull(Id),
    team_ids: Type.Array(Id, { description: 'Everyone who works on it, the lead first' }),
    ...withoutLabels(dealDetails),
    updated_at: Time,
  },
  { title: 'Investment' },
);
export type Investment = Static<typeof Investment>;

/** The fields of a sector, as {@link memberFields}. */
export const sectorFields = {
  name: field('Name', Name),
  currency: field('Currency', Currency),
  description: field('Description', Prose),
};
const { currency, ...sectorFacts } = withoutLabels(sectorFields);

export const Sector = Type.Object(
  {
    id: Id,
    slug: Slug,
    ...sectorFacts,
    lead_ids: Type.Array(Id),
    investment_count: Type.Integer(),
    total_amount_minor: Type.Integer({ description: 'Of the investments in the currency of the sector' }),
    currency,
  },
  { title: 'Sector' },
);
export type Sector = Static<typeof Sector>;

/** A record of each kind. */
export interface RecordOf {
  readonly team: Member;
  readonly investments: Investment;
  readonly sectors: Sector;
}

/** Names another record by its id or its slug. */
const Reference = Type.String({ minLength: 1, maxLength: 200, format: 'text' });
const References = Type.Array(Reference, { default: [] });
const identity = {
  id: Type.Optional(field('ID', Id)),
  slug: Type.Optional(field('Slug', Slug)),
  updated_at: Type.Optional(field('Changed', Time)),
};

/** Records as files have them. What the API computes is ignored. */
export const imported = {
  team: Type.Object({
    ...memberFields,
    sectors: field('Sectors', References),
    ...memberLinks,
    ...identity,
  }),
  investments: Type.Object({
    ...companyFields,
    sector: field('Sector', Reference),
    ...dealFields,
    lead_id: field('Lead', orNull(Reference)),
    team_ids: field('Team', References),
    ...dealDetails,
    ...identity,
  }),
  sectors: Type.Object({
    ...sectorFields,
    lead_ids: field('Leads', References),
    ...identity,
  }),
};

export interface Imported {
  readonly team: readonly Static<typeof imported.team>[];
  readonly investments: readonly Static<typeof imported.investments>[];
  readonly sectors: readonly Static<typeof imported.sectors>[];
}

const Filter = Type.Optional(Type.String({ minLength: 1, maxLength: 200, format: 'text' }));
const FilterDay = Type.Optional(Day);
const FilterAmount = Type.Optional(Amount);

/** Filters of each list, the columns that it can be sorted by, and its default order. */
export const lists = {
  team: {
    filter: Type.Object({ q: Filter, name: Filter, role: Filter, sector: Filter, location: Filter }),
    sorts: { name: 'name_words', joined_on: 'joined_on', updated_at: 'updated_at_ms' },
    sort: 'name',
  },
  investments: {
    filter: Type.Object({
      q: Filter,
      name: Filter,
      sector: Filter,
      stage: Filter,
      status: Type.Optional(Type.Enum(Object.keys(statusWords) as (keyof typeof statusWords)[])),
      team_member: Filter,
      country: Filter,
      min_amount: FilterAmount,
      max_amount: FilterAmount,
      from: FilterDay,
      to: FilterDay,
    }),
    sorts: {
      name: 'company_words',
      company: 'company_words',
      stage: 'stage',
      status: 'status',
      amount_minor: 'amount_minor',
      invested_on: 'invested_on',
      exited_on: 'exited_on',
      updated_at: 'updated_at_ms',
    },
    sort: '-invested_on',
  },
  sectors: {
    filter: Type.Object({ q: Filter, name: Filter }),
    sorts: {
      name: 'name_words',
      investment_count: 'investment_count',
      total_amount_minor: 'total_amount_minor',
    },
    sort: 'name',
  },
} as const;

export type Filters = { readonly [K in Kind]: Static<(typeof lists)[K]['filter']> };

/** Part of a list to read, and its order: the name of a column, descending with a `-` before it. */
export interface ListRequest extends OffsetRequest {
  readonly sort: string;
}

export type Counts = Readonly<Record<Kind, number>>;

/** The label of a field of records in files. */
export function labelOf<K extends Kind>(kind: K, name: keyof (typeof imported)[K]['properties']): string {
  const { properties }: { readonly properties: EntityFields } = imported[kind];
  return partsOf(String(name), properties[String(name)] ?? {}).label;
}

function patterned(maxLength: number, pattern: string, what: string, example: string) {
  return Type.String({ maxLength, pattern, 'x-problem': `must be ${what}`, examples: [example] });
}

/** A value that may be null, which it is where a file leaves it out. */
function orNull<S extends Parameters<typeof Type.Array>[0]>(schema: S) {
  return Type.Union([schema, Type.Null()], { default: null });
}
