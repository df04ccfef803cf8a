import { addResource } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { owned } from '../edges/api-access.ts';
import { routes } from '../routes.ts';
import {
  createRecurring,
  deleteRecurring,
  getRecurring,
  listRecurring,
  updateRecurring,
} from './commands.ts';
import { Recurring, RecurringInput, RecurringPatch } from './recurring.ts';

export function addRecurringApi(app: HttpApp, context: Context, access: AccessRule): void {
  addResource(app, {
    ...owned(access),
    name: 'Recurring',
    plural: 'Recurring',
    tag: 'Recurring expenses',
    paths: { list: routes.recurring, item: routes.recurringItem },
    schema: Recurring,
    list: {
      summary: 'Your recurring expenses, newest first',
      description: 'Lists the expenses that repeat, each with the day of its next one.',
      run: (caller, query) => listRecurring(context, caller, query),
    },
    get: {
      summary: 'A recurring expense',
      description: 'Reads one of your recurring expenses.',
      run: (caller, id) => getRecurring(context, caller, id),
    },
    create: {
      summary: 'Add a recurring expense',
      description: 'Adds an expense that repeats. A first day in the past adds the missed expenses.',
      body: RecurringInput,
      errors: ['not_found'],
      run: (caller, body) => createRecurring(context, caller, body),
    },
    change: {
      summary: 'Change a recurring expense from now on',
      description: 'Changes future expenses; those that were added stay as they are.',
      body: RecurringPatch,
      run: (caller, id, change) => updateRecurring(context, caller, id, change),
    },
    remove: {
      summary: 'End a recurring expense',
      description: 'Deletes the rule. The expenses that it added stay.',
      errors: ['conflict'],
      run: (caller, id, { versions }) => deleteRecurring(context, caller, id, versions),
    },
  });
}
