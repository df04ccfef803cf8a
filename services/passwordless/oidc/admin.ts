import { dateTime, flag, functionModel, type ListQuery, type Model, text, type Values } from '@octavo/admin';
import type { Clock } from '@octavo/core';
import { AppError, notFound } from '@octavo/core';
import { lettersOf } from '@octavo/core/text';
import type { Database } from '@octavo/data';
import type { Tables } from '../store/store.ts';
import { listRoles, removeRole } from '../users/index.ts';
import { grantKnownRole, type RoleScope, serviceOf } from './known-roles.ts';
import {
  addClient,
  type Client,
  changeClient,
  findClient,
  listClients,
  type NewClient,
  removeClient,
  renewSecret,
} from './store-clients.ts';

interface ModelParts {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  /** Services of the suite, whose names may stand for their applications. */
  suite(): RoleScope['suite'];
}

const addressesHelp = 'One address per line. Addresses must match exactly.';

/** The applications that sign people in. */
export function clientModel({ database, clock }: Omit<ModelParts, 'suite'>): Model {
  return functionModel({
    path: 'sign_in/application',
    icon: 'link',
    label: 'application',
    title: 'name',
    description:
      'Applications that sign people in here by OpenID Connect. Add one, then create its secret on its page.',
    fields: {
      id: text({ label: 'Client ID', readOnly: true }),
      name: text({ label: 'Name', charactersMax: 60 }),
      redirects: text({ label: 'Redirect addresses', isLong: true, help: addressesHelp }),
      postLogouts: text({
        label: 'Addresses after signing out',
        isLong: true,
        isOptional: true,
        help: addressesHelp,
      }),
      backChannel: text({
        label: 'Back-channel address',
        isOptional: true,
        help: 'Receives a request when a user signs out.',
      }),
      audience: text({
        label: 'Address of its API',
        isOptional: true,
        help: 'Audience of access tokens, of one application only. By default the site of the first redirect address, if no other one has it.',
      }),
      firstParty: flag({ label: 'Ours', help: 'Users are not asked for consent.' }),
      public: flag({ label: 'Without a secret', help: 'For applications that run in the browser.' }),
      created: dateTime({ label: 'Created', readOnly: true }),
    },
    columns: ['name', 'id', 'firstParty', 'created'],
    list: async (query) => pageOf((await listClients(database)).map(valuesOf), query),
    async get(id) {
      const client = await findClient(database, id);
      return client && valuesOf(client);
    },
    create: async (values) => (await addClient({ database, clock }, clientOf(values))).client.id,
    update: (id, values) => changeClient({ database, clock }, id, clientOf(values)),
    delete: (id) => removeClient(database, id),
    forms: {
      secret: {
        label: 'New secret',
        help: 'The current secret stops working immediately. The application cannot sign anyone in until it has the new one, which is shown once.',
        fields: {},
        recordedAs: 'created a new secret',
        async submit(id) {
          return `The secret is ${await renewSecret(database, id)}. Copy it now; it is not shown again. Earlier secrets no longer work.`;
        },
      },
    },
  });
}

/** Roles of users. */
export function roleModel({ database, clock, suite }: ModelParts): Model {
  const find = async (id: string) => {
    const [userId = '', service = '', role = ''] = id.split('~');
    const found = await listRoles(database, { userId });
    return found.find((each) => each.role === role && (each.service ?? '') === service);
  };
  return functionModel({
    path: 'sign_in/role',
    icon: 'lock',
    label: 'role',
    title: 'role',
    description:
      'Roles that applications receive. The role admin has full access to the admin of every service.',
    can: { change: false },
    fields: {
      email: text({ label: 'E-mail address', charactersMax: 254 }),
      role: text({
        label: 'Role',
        charactersMax: 40,
        help: 'admin, editor or viewer. An application that is not of the suite may have others.',
      }),
      service: text({
        label: 'Application',
        isOptional: true,
        charactersMax: 60,
        help: 'Name or client ID of the only application that sees it. Leave empty for all.',
      }),
    },
    columns: ['role', 'email', 'service'],
    search: ['email', 'role'],
    list: async (query) => pageOf((await listRoles(database)).map(roleValues), query),
    async get(id) {
      const found = await find(id);
      return found && roleValues(found);
    },
    async create({ email, role, service }) {
      const given = {
        role: String(role),
        service: service ? serviceOf(String(service), suite()) : undefined,
      };
      try {
        await grantKnownRole({ database, clock, suite: suite() }, String(email), given);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
        const fields = { email: 'is not the verified address of a user' };
        throw new AppError('validation_failed', error.message, { fields });
      }
      const all = (await listRoles(database, { email: String(email) })).map(roleValues);
      return String(
        all.find((each) => each.role === given.role && each.service === (given.service ?? ''))?.id,
      );
    },
    async delete(id) {
      const found = await find(id);
      if (!found) throw notFound('role', id);
      await removeRole(database, found.userId, found);
    },
  });
}

function roleValues({ userId, email, role, service = '' }: Awaited<ReturnType<typeof listRoles>>[number]) {
  return { id: [userId, service, role].join('~'), email, role, service };
}

function valuesOf(client: Client) {
  return {
    id: client.id,
    name: client.name,
    redirects: client.redirects.join('\n'),
    postLogouts: client.postLogouts.join('\n'),
    backChannel: client.backChannel ?? '',
    audience: client.audience ?? '',
    firstParty: Number(client.isFirstParty),
    public: Number(!client.hasSecret),
    created: client.createdMs,
  };
}

function clientOf(values: Values): NewClient {
  const lines = (given: unknown) =>
    String(given ?? '')
      .split(/\s+/)
      .filter((line) => line !== '');
  return {
    name: String(values.name),
    redirects: lines(values.redirects),
    postLogouts: lines(values.postLogouts),
    backChannel: values.backChannel ? String(values.backChannel) : undefined,
    audience: values.audience ? String(values.audience) : undefined,
    isFirstParty: values.firstParty === 1,
    isPublic: values.public === 1,
  };
}

/** A page of a list that fits in memory. */
function pageOf(rows: readonly Values[], { words, offset, limit }: ListQuery) {
  const found = rows.filter((row) =>
    words.every((word) =>
      Object.values(row).some((value) => lettersOf(String(value)).includes(lettersOf(word))),
    ),
  );
  return { rows: found.slice(offset, offset + limit), total: found.length, isCapped: false };
}
