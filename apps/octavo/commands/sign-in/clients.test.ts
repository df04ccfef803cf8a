import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configOf } from '@octavo/data/service';
import { loadDemo, openApplications, passwordless } from '@octavo/passwordless';
import { testFolder } from '@octavo/testing';
import { contextFor } from '../../system.ts';
import { accounts } from '../authz.ts';
import { run as exportPoll } from '../data/export.ts';
import { run as jobs } from '../jobs.ts';
import { clients, roles } from './clients.ts';
import { run as queue } from './queue.ts';

const ada = 'ada@example.com';

/** An environment with Ada and the applications `posts` and `wiki`. */
async function suiteData() {
  const environment = { OCTAVO_DATA: testFolder('clients'), LOG_LEVEL: 'silent' };
  const context = contextFor('passwordless', { environment });
  await loadDemo(configOf(passwordless, environment), context);
  await clients(['add', 'Posts', '--redirect', 'http://127.0.0.1:3001/cb', '--first-party'], environment);
  await clients(['add', 'Wiki', '--redirect', 'http://127.0.0.1:9/cb'], environment);
  const granted = async () => {
    const config = configOf(passwordless, environment);
    await using applications = await openApplications(
      config,
      contextFor('passwordless', { environment }),
      [],
    );
    return (await applications.listRoles(ada)).map(({ role, service }) => `${role} ${service ?? '*'}`);
  };
  return { environment, granted };
}

test('roles are granted in applications that exist, by their names and those of services', async () => {
  const { environment, granted } = await suiteData();
  await roles(['grant', ada, 'editor', '--service', 'gateway'], environment);
  await roles(['grant', ada, 'admin', '--service', 'Portal'], environment);
  await roles(['grant', ada, 'viewer', '--service', 'Posts'], environment);
  await roles(['grant', ada, 'librarian', '--service', 'wiki'], environment);
  await roles(['grant', ada, 'viewer'], environment);
  assert.deepEqual(await granted(), [
    'viewer *',
    'admin octavo',
    'editor posts',
    'viewer posts',
    'librarian wiki',
  ]);
  const unknownService = /nosuch is not an application: it must be one of .*octavo.*polls.*posts.*wiki/;
  await assert.rejects(roles(['grant', ada, 'admin', '--service', 'nosuch'], environment), unknownService);
  for (const where of [[], ['--service', 'gateway'], ['--service', 'posts']]) {
    const unknownRole = /superuser is not a role of the suite: it must be one of admin, editor, viewer/;
    await assert.rejects(roles(['grant', ada, 'superuser', ...where], environment), unknownRole);
  }
  await roles(['revoke', ada, 'editor', '--service', 'gateway'], environment);
  assert.ok(!(await granted()).includes('editor posts'));
});

test('commands on queued mails refuse what they cannot do', async () => {
  const { environment } = await suiteData();
  const refusals: [string[], RegExp][] = [
    [['retry', 'nothing'], /mail nothing does not exist/],
    [['purge', '--status', 'sending'], /being sent cannot be removed/],
    [['list', '--status', 'lost'], /must be one of pending, sending/],
    [['list', '--limit', '0'], /whole number from 1/],
    [['burn'], /needs one of list, retry, purge/],
  ];
  for (const [args, message] of refusals) await assert.rejects(queue(args, environment), { message });
});

test('commands on data that is not there say so, and create nothing', async () => {
  const parent = testFolder('typo');
  const folder = join(parent, 'dtaa');
  const environment = { OCTAVO_DATA: folder, LOG_LEVEL: 'silent' };
  const missing = /there is no data of [\w-]+ in .*dtaa; name the folder with --data/;
  for (const command of [
    () => clients(['list'], environment),
    () => clients(['remove', 'wiki'], environment),
    () => roles(['list'], environment),
    () => roles(['grant', ada, 'admin'], environment),
    () => queue(['list'], environment),
    () => jobs(['list'], environment),
    () => accounts(['list'], environment),
    () => exportPoll(['polls', '1'], environment),
  ]) {
    await assert.rejects(command(), missing);
    assert.ok(!existsSync(folder));
  }
  assert.equal(await clients(['add', 'Wiki', '--redirect', 'http://127.0.0.1:9/cb'], environment), 0);
  assert.equal(await clients(['list'], environment), 0);
});
