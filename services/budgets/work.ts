import { runEvery } from '@octavo/core/concurrency';
import { type Database, queriedGauges, rowGauge } from '@octavo/data';
import type { EventStream } from '@octavo/data/events';
import type { ServiceParts } from '@octavo/data/service';
import { Gauge, type Registry } from 'prom-client';
import { completeErasures, sweepOnceKeys } from './authentication/index.ts';
import { type Context, deleteOldIdempotencyKeys } from './commands.ts';
import type { NotificationHub } from './feed/index.ts';
import type { MailJobs } from './mail-jobs.ts';
import { addDueExpenses } from './recurring/index.ts';
import type { settings } from './settings.ts';
import type { Tables } from './store/tables.ts';
import { countFailedTasks, countOpenTasks, sweepTasks, type Tasks, workOnTasks } from './tasks/index.ts';

const sweepMs = 60_000;
const recurringMs = 10_000;

/** Tasks, mails, recurring expenses, and the deletion of what has expired. Any number of processes may do it. */
export function startWork(
  { config, context: serviceContext, stack }: ServiceParts<typeof settings>,
  {
    context,
    events,
    mails,
    tasks,
  }: {
    context: Context;
    events: EventStream;
    mails: readonly MailJobs[];
    tasks: Tasks;
  },
): void {
  const { log } = serviceContext;
  stack.use(events.publish());
  for (const each of mails) stack.use(each.work());
  stack.use(workOnTasks(tasks, log));
  const addDue = () => addDueExpenses(context, log);
  stack.use(runEvery(recurringMs, addDue, { log, failure: 'recurring expenses could not be added' }));
  const sweep = async () => {
    for (const each of mails) await each.sweep();
    await deleteOldIdempotencyKeys(context);
    await sweepOnceKeys(context);
    await sweepTasks(tasks, config.JOB_LEASE_MS);
    await completeErasures(context);
  };
  stack.use(runEvery(sweepMs, sweep, { log, failure: 'expired rows could not be deleted' }));
}

/** Metrics of the domain. */
export function measure(
  metrics: Registry,
  { db, hub }: { db: Database<Tables>; hub: NotificationHub },
): void {
  new Gauge({
    name: 'budgets_followers',
    help: 'Connections that follow notifications: WebSockets, streams of pages and GraphQL, and WatchBudget.',
    registers: [metrics],
    collect() {
      this.set(hub.size);
    },
  });
  const helps = {
    budgets_tasks_open: 'Tasks that are not finished.',
    budgets_tasks_failed: 'Tasks that failed.',
  };
  queriedGauges(metrics, helps, async () => {
    const [open, failed] = await Promise.all([countOpenTasks(db), countFailedTasks(db)]);
    return { budgets_tasks_open: open, budgets_tasks_failed: failed };
  });
  rowGauge(metrics, db, { name: 'budgets_budgets', help: 'Budgets of all accounts.', table: 'budget' });
}
