import { DatabaseSync } from 'node:sqlite';
import { openServiceDatabase } from '@octavo/data/service';
import { testConfig, testContext } from '@octavo/testing';
import { budgets } from '../../../services/budgets/service.ts';
import { indexExpenses } from '../../../services/budgets/store/expense-search-index.ts';
import type { Tables } from '../../../services/budgets/store/tables.ts';

const wordsAtOnce = 2_000;

/** Ids of copies: the last 12 digits are those of the row and the copy. */
const idOf = (column: string) => `substr(${column}, 1, 14) || printf('%04x%s', n.i, substr(${column}, 19))`;

/**
 * Copies the expenses of an account that were imported, with their tags and transactions, until there are `count`, without the program, so that it
 * takes a minute. Copies have other days, amounts and payees.
 */
export async function multiplyExpenses(folder: string, imported: number, count: number): Promise<void> {
  const copies = Math.ceil(count / imported) - 1;
  fillTables(`${folder}/budgets.sqlite`, imported, copies);
  const context = testContext('budgets', { dataFolder: folder });
  await using database = await openServiceDatabase<Tables>(
    budgets,
    testConfig(budgets.settings, {}),
    context,
  );
  for (let after = imported; ; ) {
    const rows = await database.kysely
      .selectFrom('expense')
      .select(['number', 'owner', 'description', 'category', 'tags', 'notes'])
      .where('number', '>', after)
      .orderBy('number')
      .limit(wordsAtOnce)
      .execute();
    const last = rows.at(-1);
    if (!last) return;
    await database.write((session) => indexExpenses(session, last.owner, rows), { mayBeLost: true });
    after = last.number;
  }
}

function fillTables(file: string, imported: number, copies: number): void {
  using database = new DatabaseSync(file);
  database.exec('PRAGMA foreign_keys = off; PRAGMA synchronous = off; PRAGMA cache_size = -200000; BEGIN');
  const copy = (table: string, changed: Readonly<Record<string, string>>) => {
    const names = database.prepare('SELECT name FROM pragma_table_info(?)').all(table);
    const columns = names.map(({ name }) => String(name));
    const values = columns.map((name) => changed[name] ?? `t."${name}"`);
    database.exec(`INSERT INTO "${table}" (${columns.map((name) => `"${name}"`).join(', ')})
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${copies})
      SELECT ${values.join(', ')} FROM n CROSS JOIN (SELECT * FROM "${table}") AS t`);
  };
  copy('expense', {
    number: `t.number + n.i * ${imported}`,
    id: idOf('t.id'),
    description: `t.description || ' ' || (n.i % 7)`,
    amount_minor: 't.amount_minor + n.i * 3',
    amount: 't.amount + n.i * 0.03',
    spent_on: "date('2016-01-01', '+' || ((unixepoch(t.spent_on) / 86400 + n.i * 1237) % 3650) || ' days')",
    transaction_id: idOf('t.transaction_id'),
  });
  copy('expense_tag', { expense: `t.expense + n.i * ${imported}` });
  copy('ledger_transaction', { id: idOf('t.id'), expense_id: idOf('t.expense_id') });
  copy('ledger_entry', { transaction_id: idOf('t.transaction_id') });
  database.exec(`DELETE FROM budget_day;
    INSERT INTO budget_day (owner, budget, day, amount_minor, expenses)
      SELECT owner, budget, spent_on, sum(amount_minor), count(*) FROM expense GROUP BY owner, budget, spent_on;
    UPDATE budget SET expenses = (SELECT count(*) FROM expense e WHERE e.budget = budget.number),
      spent_minor = (SELECT sum(e.amount_minor) FROM expense e WHERE e.budget = budget.number) WHERE expenses > 0;
    COMMIT`);
}
