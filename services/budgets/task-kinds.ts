import { AppError } from '@octavo/core';
import { decimalText } from '@octavo/documents/values';
import type { Mailer, Sender } from '@octavo/mail';
import { html } from '@octavo/web/html';
import { accountAddress } from './authentication/index.ts';
import { bulkTask } from './expenses/index.ts';
import { exportTask } from './exports/index.ts';
import type { Imports } from './imports/index.ts';
import { type ReportRange, reportByCategory, reportTask } from './reports/index.ts';
import { ruleTask } from './rules/index.ts';
import { reindexExpenses } from './search/index.ts';
import type { RunningTask, TaskKind, TaskKinds } from './tasks/index.ts';

interface Parts {
  readonly imports: Imports;
  readonly mailer: Mailer;
  readonly sender: Sender;
}

/** Returns the function of each type of task. */
export function createTaskKinds({ imports, mailer, sender }: Parts): TaskKinds {
  return {
    import: imports,
    export: exportTask,
    report: reportTask,
    reindex: reindexTask,
    email: emailTask(mailer, sender),
    rule: ruleTask,
    bulk: bulkTask,
  };
}

/** Makes the search index of the caller's expenses again. */
const reindexTask: TaskKind = {
  prepare: async () => ({ input: {} }),
  async run({ context, caller, signal, advance }: RunningTask) {
    const indexed = await reindexExpenses(context, caller, { signal, onProgress: () => advance(50) });
    return { indexed };
  },
};

/** Mails the spending by category, to the caller only. */
function emailTask(mailer: Mailer, sender: Sender): TaskKind {
  return {
    prepare: (context, caller, { from, to }) =>
      reportTask.prepare(context, caller, { type: 'report', from, to }),
    async run({ context, caller, input, signal, taskId }: RunningTask) {
      const { email, isVerified } = await accountAddress(context, caller);
      if (!isVerified) throw new AppError('conflict', 'Verify your e-mail address first.');
      const rows = await reportByCategory(context, caller, input as ReportRange);
      const lines = rows.map(({ category, amountMinor, currency }) => {
        return `${category ?? 'Without category'}: ${decimalText(amountMinor, currency)} ${currency}`;
      });
      const shown = lines.length > 0 ? lines : ['No expenses'];
      const domain = sender.address.slice(sender.address.lastIndexOf('@') + 1);
      await mailer.send(
        {
          // The same for each attempt, so that mail programs recognize a second one.
          id: `${taskId}@${domain}`,
          from: sender,
          to: email,
          subject: 'Your expenses by category',
          date: new Date(context.clock.now()),
          text: `${shown.join('\n')}\n`,
          html: String(html`<ul>${shown.map((line) => html`<li>${line}</li>`)}</ul>`),
        },
        { signal },
      );
      return { sentTo: email, categories: rows.length };
    },
  };
}
