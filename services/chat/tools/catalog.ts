import type { DataKind } from './trace.ts';

/** A tool of the domain data API. */
export interface DomainTool {
  readonly name: string;
  readonly description: string;
  /** `:id` stands for the parameter of that name. */
  readonly path: string;
  /** JSON Schema. */
  readonly parameters: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly required?: readonly string[];
    readonly additionalProperties: false;
  };
  readonly returns: string;
  /** Kind of the record or list in its result. */
  readonly kind: DataKind;
}

const text = (description: string) => ({ type: 'string', minLength: 1, maxLength: 200, description });
const amount = (description: string) => ({ type: 'integer', minimum: 0, description });
const day = (description: string) => ({ type: 'string', format: 'date', description });
const paging = {
  limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Maximum number of records' },
  offset: { type: 'integer', minimum: 0 },
};
const investmentFilters = {
  name: text('Words of the name of the company'),
  sector: text('Id or slug of a sector'),
  stage: text('Such as seed or series_a'),
  status: { type: 'string', enum: ['active', 'exited', 'written_off'] },
  team_member: text('Id or slug of a person who works on it'),
  country: text('Two letters, such as DE'),
  min_amount: amount('In minor units'),
  max_amount: amount('In minor units'),
  from: day('Invested on that day or later'),
  to: day('Invested on that day or earlier'),
  sort: text('A field to sort by, such as amount_minor; -amount_minor for the largest first'),
  ...paging,
};

function list(properties: DomainTool['parameters']['properties']): DomainTool['parameters'] {
  return { type: 'object', properties, additionalProperties: false };
}

function one(what: string, more: DomainTool['parameters']['properties'] = {}): DomainTool['parameters'] {
  const properties = { id: text(`Id or slug of ${what}`), ...more };
  return { type: 'object', properties, required: ['id'], additionalProperties: false };
}

/** The tools, by name in the order in which they are listed. */
export const domainTools: readonly DomainTool[] = [
  {
    name: 'get_team',
    path: '/api/team',
    kind: 'team',
    description: 'Lists the people of the firm.',
    parameters: list({
      name: text('Words that begin the parts of a name'),
      role: text('Such as partner'),
      sector: text('Id or slug of a sector'),
      location: text('Such as Berlin'),
      ...paging,
    }),
    returns: 'An array of people',
  },
  {
    name: 'get_team_member',
    path: '/api/team/:id',
    kind: 'team',
    description: 'One person, with the ids of their investments and the slugs of their sectors.',
    parameters: one('a person'),
    returns: 'A person',
  },
  {
    name: 'get_team_member_investments',
    path: '/api/team/:id/investments',
    kind: 'investments',
    description: 'The investments that a person works on.',
    parameters: one('a person', investmentFilters),
    returns: 'An array of investments',
  },
  {
    name: 'get_investments',
    path: '/api/investments',
    kind: 'investments',
    description: 'Lists the investments of the firm.',
    parameters: list(investmentFilters),
    returns: 'An array of investments',
  },
  {
    name: 'get_investment',
    path: '/api/investments/:id',
    kind: 'investments',
    description: 'One investment, with the ids of who leads it and who works on it.',
    parameters: one('an investment'),
    returns: 'An investment',
  },
  {
    name: 'get_sectors',
    path: '/api/sectors',
    kind: 'sectors',
    description: 'Lists the sectors with their totals.',
    parameters: list({ name: text('Words of the name'), ...paging }),
    returns: 'An array of sectors',
  },
  {
    name: 'get_sector',
    path: '/api/sectors/:id',
    kind: 'sectors',
    description: 'One sector with its totals and the ids of who leads it.',
    parameters: one('a sector'),
    returns: 'A sector',
  },
  {
    name: 'get_sector_investments',
    path: '/api/sectors/:id/investments',
    kind: 'investments',
    description: 'The investments of a sector.',
    parameters: one('a sector', investmentFilters),
    returns: 'An array of investments',
  },
];

/** The path and the query of a call. Throws if a parameter of the path is missing. */
export function addressOf(
  { path, parameters }: Pick<DomainTool, 'path' | 'parameters'>,
  params: Readonly<Record<string, unknown>>,
): { path: string; query: Record<string, string> } {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    const isKnown = Object.hasOwn(parameters.properties, name) && name !== 'id';
    if (isKnown && value !== undefined && value !== null && value !== '') query[name] = String(value);
  }
  if (!path.includes(':id')) return { path, query };
  const id = params.id;
  if ((typeof id !== 'string' && typeof id !== 'number') || /^\.{0,2}$/.test(String(id)))
    throw new Error('id is required');
  return { path: path.replace(':id', encodeURIComponent(String(id))), query };
}
