import { parseArgs } from 'node:util';
import type { Environment } from '@octavo/core';
import { AppError } from '@octavo/core';
import { configOf } from '@octavo/data/service';
import { type Applications, openApplications, passwordless } from '@octavo/passwordless';
import { topology } from '../../topology.ts';
import { contextOf, existingContextOf } from '../existing-data.ts';

/** `octavo clients`: the applications that sign people in at the passwordless service. */
export async function clients(args: string[], environment: Environment = process.env): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      redirect: { type: 'string', multiple: true, default: [] },
      'post-logout': { type: 'string', multiple: true, default: [] },
      'back-channel': { type: 'string' },
      audience: { type: 'string' },
      'first-party': { type: 'boolean', default: false },
      public: { type: 'boolean', default: false },
    },
  });
  const [verb = '', name = ''] = positionals;
  return withApplications(environment, verb === 'add', async (applications) => {
    if (verb === 'list') return clientLines(await applications.listClients());
    if (name === '' || !['add', 'remove'].includes(verb))
      throw usage('clients add NAME --redirect URL, clients list, or clients remove NAME');
    if (verb === 'remove') {
      await applications.removeClient(name);
      return `application ${name} removed`;
    }
    const { client, secret } = await applications.addClient({
      name,
      redirects: values.redirect,
      postLogouts: values['post-logout'],
      backChannel: values['back-channel'],
      audience: values.audience,
      isFirstParty: values['first-party'],
      isPublic: values.public,
    });
    const lines = [`client_id:     ${client.id}`];
    if (secret !== undefined)
      lines.push(`client_secret: ${secret}`, 'Keep the secret now. It is not shown again.');
    if (client.audience === undefined)
      lines.push('Its site is the audience of another application, so it has none; --audience names one.');
    return lines.join('\n');
  });
}

/** `octavo roles`: the roles of users, for all applications or for one. */
export async function roles(args: string[], environment: Environment = process.env): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { service: { type: 'string' } },
  });
  const [verb = '', email, role] = positionals;
  return withApplications(environment, false, async (applications) => {
    const { service: given } = values;
    const service = given === undefined ? undefined : applications.serviceOf(given);
    if (verb === 'list') {
      const found = (await applications.listRoles(email)).filter(
        (each) => service === undefined || each.service === service || each.service === given,
      );
      const lines = found.map((each) => `${each.email}  ${each.role}  ${each.service ?? 'all services'}`);
      return lines.length === 0 ? 'no roles' : lines.join('\n');
    }
    if (!email || !role || !['grant', 'revoke'].includes(verb))
      throw usage('roles grant EMAIL ROLE, roles revoke EMAIL ROLE, or roles list');
    const where = service === undefined ? 'all services' : service;
    if (verb === 'revoke') {
      await applications.revokeRole(email, { role, service });
      return `${email} no longer has the role ${role} in ${where}; it ends there within ten minutes`;
    }
    await applications.grantRole(email, { role, service: given });
    return `${email} has the role ${role} in ${where}`;
  });
}

async function withApplications(
  environment: Environment,
  begins: boolean,
  work: (applications: Applications) => Promise<string>,
): Promise<number> {
  const context = (begins ? contextOf : existingContextOf)(passwordless, environment);
  const suite = topology.flatMap(({ name, site }) => (site ? [{ name, title: site.title }] : []));
  await using applications = await openApplications(configOf(passwordless, environment), context, suite);
  process.stdout.write(`${await work(applications)}\n`);
  return 0;
}

function clientLines(found: Awaited<ReturnType<Applications['listClients']>>): string {
  if (found.length === 0) return 'no applications';
  return found
    .map(({ id, name, isFirstParty, hasSecret, redirects }) => {
      const kind = [isFirstParty ? 'first-party' : 'third-party', ...(hasSecret ? [] : ['public'])].join(
        ', ',
      );
      return `${id}  ${name}  ${kind}  ${redirects.join(' ')}`;
    })
    .join('\n');
}

function usage(text: string): AppError {
  return new AppError('invalid_input', `octavo needs ${text}`);
}
