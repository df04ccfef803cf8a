/** The services under test, in a process of their own that reports to its parent. */
import { setInterval } from 'node:timers';
import { openServiceAccounts } from '@octavo/people/accounts';
import { loadServices, startSystem, upNames } from '../../apps/octavo/index.ts';
import { contextFor } from '../../apps/octavo/system.ts';
import type { Report } from './services.ts';

const tickMs = 20;
/** CPU time of one turn of the event loop that counts as a stall. */
const stallMs = 200;

const report = (message: Report) => process.send?.(message);
const environment = process.env;
const names = upNames();
await createAdministrators();
const system = await startSystem(names, {
  environment,
  ports: Object.fromEntries(names.map((name) => [name, 0])),
});
process.once('SIGTERM', () => system[Symbol.asyncDispose]().then(() => process.exit(0)));
process.on('message', (name: string) => void createAdministrator(name));
report({ kind: 'ready', sites: (await system.addresses()).map(({ name, url }) => ({ name, url })) });

// The CPU time of this thread, not the time that passes: a busy machine is no stall.
let before = process.threadCpuUsage();
setInterval(() => {
  const used = process.threadCpuUsage(before);
  before = process.threadCpuUsage();
  const cpuMs = (used.user + used.system) / 1_000;
  if (cpuMs > stallMs) report({ kind: 'stall', cpuMs });
}, tickMs).unref();
setInterval(() => report({ kind: 'memory', rss: process.memoryUsage.rss() }), 1_000).unref();

async function createAdministrators(): Promise<void> {
  for (const name of ['passwordless', 'polls', 'quotes', 'budgets', 'portfolio'])
    await createAdministrator(`${name} root`);
}

/** Creates the administrator that a message `SERVICE NAME` asks for. */
async function createAdministrator(message: string): Promise<void> {
  const [name = '', username = ''] = message.split(' ');
  const [service] = await loadServices([name]);
  if (!service) return;
  await using stack = new AsyncDisposableStack();
  const context = contextFor(name, { environment });
  const accounts = await openServiceAccounts(service, { environment, context, stack });
  const password = environment.FUZZ_PASSWORD ?? '';
  await accounts.create({ username, password, isStaff: true, isSuperuser: true });
  report({ kind: 'administrator', name: message });
}
