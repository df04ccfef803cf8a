import { type Static, Type } from '#kit/base/schema.ts';
import type { OffsetRequest } from '#kit/rest/paging.ts';
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
const statuses = ['active', 'exited', 'written_off'] as const;
const Links = Type.Record(Type.String(), Url);

const memberFields = {
  name: Name,
  role: Line,
  title: Line,
  bio: Prose,
  location: Line,
  email: orNull(Email),
};
const memberDetails = { joined_on: orNull(Day), links: { ...Links, default: {} } };

export const Member = Type.Object(
  {
    id: Id,
    slug: Slug,
    ...memberFields,
    sectors: Type.Array(Slug, { description: 'Slugs of sectors' }),
    investment_ids: Type.Array(Id, { description: 'Latest first' }),
    ...memberDetails,
    updated_at: Time,
  },
  { title: 'Member' },
);
export type Member = Static<typeof Member>;

const dealFields = {
  stage: Line,
  status: Type.Enum(statuses, { default: 'active' }),
  amount_minor: Amount,
  currency: Currency,
  invested_on: Day,
  exited_on: orNull(Day),
};
const dealDetails = { country: Line, description: Prose, website: orNull(Url) };

export const Investment = Type.Object(
  {
    id: Id,
    slug: Slug,
    company: Name,
    sector: Slug,
    ...dealFields,
    lead_id: orNull(Id),
    team_ids: Type.Array(Id, { description: 'Everyone who works on it, the lead first' }),
    ...dealDetails,
    updated_at: Time,
  },
  { title: 'Investment' },
);
export type Investment = Static<typeof Investment>;

export const Sector = Type.Object(
  {
    id: Id,
    slug: Slug,
    name: Name,
    description: Prose,
    lead_ids: Type.Array(Id),
    investment_count: Type.Integer(),
    total_amount_minor: Type.Integer({ description: 'Of the investments in the currency of the sector' }),
    currency: Currency,
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
const identity = { id: Type.Optional(Id), slug: Type.Optional(Slug), updated_at: Type.Optional(Time) };

/** Records as files have them. What the API computes is ignored. */
export const imported = {
  team: Type.Object({ ...identity, ...memberFields, sectors: References, ...memberDetails }),
  investments: Type.Object({
    ...identity,
    company: Name,
    sector: Reference,
    ...dealFields,
    lead_id: orNull(Reference),
    team_ids: References,
    ...dealDetails,
  }),
  sectors: Type.Object({
    ...identity,
    name: Name,
    description: Prose,
    lead_ids: References,
    currency: Currency,
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
      status: Type.Optional(Type.Enum(statuses)),
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

function patterned(maxLength: number, pattern: string, what: string, example: string) {
  return Type.String({ maxLength, pattern, 'x-problem': `must be ${what}`, examples: [example] });
}

/** A value that may be null, which it is where a file leaves it out. */
function orNull<S extends Parameters<typeof Type.Array>[0]>(schema: S) {
  return Type.Union([schema, Type.Null()], { default: null });
}
