import {
  type AccountSession,
  type Admin,
  accountModels,
  adminFields,
  createAdmin,
  dateTime,
  type Field,
  reference,
  staffAccounts,
  tableModel,
  text,
  type Values,
} from '@octavo/admin';
import type { Clock, TSchema } from '@octavo/core';
import { AppError, type Fields, newOrderedId } from '@octavo/core';
import type { Database, WriteSession } from '@octavo/data';
import type { Accounts } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import { compileValidator } from '@octavo/web/validation';
import {
  companyFields,
  dealDetails,
  dealFields,
  imported,
  type Kind,
  labelOf,
  memberFields,
  sectorFields,
} from './records.ts';
import { pageRoutes, pathOf } from './routes.ts';
import { addLead, freeSlug, membersOf } from './store/admin.ts';
import type { Tables } from './store/store.ts';
import { slugOf, wordColumns } from './words.ts';

/** The admin at `/admin/`: the people, investments and sectors, users and groups. */
export function createPortfolioAdmin(parts: {
  readonly accounts: Accounts;
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly oidc: OidcSignIn<AccountSession> | undefined;
}): Admin<AccountSession> {
  const { accounts, database, clock, oidc } = parts;
  const models = [teamModel(clock), investmentModel(clock), sectorModel(clock)];
  return createAdmin({
    title: 'Portfolio admin',
    models: [...models, ...accountModels(accounts, models)],
    accounts: staffAccounts(accounts, undefined, oidc),
    database,
    clock,
    tables: {
      investment_member: ['place in a team', 'places in a team'],
      member_sector: ['assignment to a sector', 'assignments to a sector'],
      sector_lead: ['lead of a sector', 'leads of a sector'],
    },
  });
}

const day = { help: 'Such as 2026-01-31.' };
const slug = text({
  label: labelOf('team', 'slug'),
  charactersMax: 80,
  isOptional: true,
  help: 'Part of the address. Leave empty to derive it from the name.',
});
const updated = dateTime({
  label: labelOf('team', 'updated_at'),
  column: 'updated_at_ms',
  readOnly: true,
  isOptional: true,
});
const uniqueErrors = { slug: { field: 'slug', message: 'Another record has this slug.' } };

const teamModel = (clock: Clock) =>
  tableModel<Tables>({
    path: 'portfolio/team',
    icon: 'users',
    label: 'person',
    plural: 'people',
    table: 'member',
    keyIsText: true,
    title: 'name',
    fields: {
      ...adminFields(memberFields, { joined_on: day }),
      slug,
      links,
      updated,
    },
    sets: { sectors: membersOf(labelOf('team', 'sectors'), 'member_sector') },
    columns: ['name', 'role', 'location', 'joined_on', 'updated'],
    search: ['name', 'role', 'location', 'bio'],
    filters: ['role', 'location'],
    order: ['name'],
    links: ({ id }) => [{ href: pathOf(pageRoutes.member, id), label: 'View on site' }],
    beforeSave: beforeSave('team', clock),
    uniqueErrors,
  });

const sectorModel = (clock: Clock) =>
  tableModel<Tables>({
    path: 'portfolio/sector',
    icon: 'grid',
    label: 'sector',
    table: 'sector',
    keyIsText: true,
    title: 'name',
    fields: {
      ...adminFields(sectorFields),
      slug,
      updated,
    },
    sets: { lead_ids: membersOf(labelOf('sectors', 'lead_ids'), 'sector_lead') },
    columns: ['name', 'currency', 'updated'],
    search: ['name', 'description'],
    order: ['name'],
    links: ({ id }) => [{ href: pathOf(pageRoutes.sector, id), label: 'View on site' }],
    beforeSave: beforeSave('sectors', clock),
    uniqueErrors,
  });

const investmentModel = (clock: Clock) =>
  tableModel<Tables>({
    path: 'portfolio/investment',
    icon: 'chart',
    label: 'investment',
    table: 'investment',
    keyIsText: true,
    title: 'company',
    fields: {
      ...adminFields(companyFields),
      slug,
      sector: reference('portfolio/sector', {
        label: labelOf('investments', 'sector'),
        column: 'sector_id',
        isText: true,
      }),
      ...adminFields(dealFields, {
        amount_minor: { help: 'In minor units, such as cents.' },
        invested_on: day,
        exited_on: day,
      }),
      lead_id: reference('portfolio/team', {
        label: labelOf('investments', 'lead_id'),
        isText: true,
        isOptional: true,
      }),
      ...adminFields(dealDetails),
      updated,
    },
    sets: {
      team_ids: membersOf(labelOf('investments', 'team_ids'), 'investment_member'),
    },
    columns: ['company', 'sector', 'stage', 'status', 'amount_minor', 'currency', 'invested_on'],
    search: ['company', 'description', 'sector'],
    filters: ['status', 'sector', 'stage'],
    order: ['-invested_on'],
    links: ({ id }) => [{ href: pathOf(pageRoutes.investment, id), label: 'View on site' }],
    beforeSave: beforeSave('investments', clock),
    afterSave: addLead,
    uniqueErrors,
  });

/** Labeled addresses, one per line, such as `blog https://example.com`; stored as JSON. */
const links: Field = {
  ...text({ label: labelOf('team', 'links'), charactersMax: 5_000, isLong: true, isOptional: true }),
  help: 'One per line, such as: blog https://example.com',
  initial: () => '{}',
  parse: (typed) => {
    const pairs = typed.split('\n').flatMap((each) => {
      const words = each.trim().split(/\s+/);
      const address = words.pop() ?? '';
      return address === '' ? [] : [[words.join(' ') || 'website', address] as const];
    });
    return { value: JSON.stringify(Object.fromEntries(pairs)) };
  },
  format: (value) =>
    Object.entries(JSON.parse(String(value || '{}')))
      .map((pair) => pair.join(' '))
      .join('\n'),
};

const nullable = ['email', 'joined_on', 'exited_on', 'lead_id', 'website'];

/** Checks a record by the rules of files that are imported, and adds the columns that no form has. */
function beforeSave(kind: Kind, clock: Clock) {
  const check = compileValidator<TSchema>(imported[kind]);
  return async (session: WriteSession<Tables>, { id, after }: { id: string | undefined; after: Values }) => {
    const name = String(kind === 'investments' ? after.company : after.name);
    const slug = String(after.slug || (await freeSlug(session, kind, slugOf(name) || kind)));
    const empty = Object.fromEntries(nullable.flatMap((each) => (after[each] === '' ? [[each, null]] : [])));
    const links = kind === 'team' && { links: JSON.parse(String(after.links || '{}')) };
    const { fields } = check({ ...after, ...empty, ...links, slug });
    if (fields) throw invalid(fields);
    const words = wordColumns[kind](after as never);
    const added = id === undefined ? { id: newOrderedId() } : {};
    return { ...empty, ...words, ...added, slug, updated_at_ms: clock.now() };
  };
}

/** One error for each field of the form. */
function invalid(problems: Fields): AppError {
  const fields = Object.entries(problems).map(([path, problem]) => [path.split(/[.[]/, 1)[0], problem]);
  return new AppError('validation_failed', 'Some values are not valid.', {
    fields: Object.fromEntries(fields),
  });
}
