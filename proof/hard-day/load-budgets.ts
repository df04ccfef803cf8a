import { ChannelCredentials } from '@grpc/grpc-js';
import { BudgetServiceDefinition } from '@octavo/protocols/budget/v1/budget_service';
import { ClientError, createChannel, createClient, Metadata, Status } from 'nice-grpc';
import { WebSocket } from 'ws';
import type { Client } from './client.ts';
import type { Certificate } from './engines.ts';
import { eventSubjects } from './load-posts.ts';
import { type Stage, soon, type Workload } from './workload.ts';

const password = 'ferries wait in fog';

/** Expenses with an `Idempotency-Key`, imports, and a reader of notifications who comes back where it was. */
export async function budgetsLoad(stage: Stage): Promise<Workload[]> {
  const client = stage.clientOf('budgets');
  const body = { email: `${stage.mark}@example.com`, password };
  const { token } = (await client.must('/api/auth/register', { body, expected: [409] })).json;
  const books = { client, token, newBudget: (name: string) => newBudget(client, token, name) };
  const reader = new NotificationReader(client, token, stage.over);
  return [
    await expenses(stage, books, reader),
    await imports(stage, books),
    ...(stage.engines.certificate ? [await calls(stage, books, stage.engines.certificate)] : []),
  ];
}

interface Books {
  readonly client: Client;
  readonly token: string;
  newBudget(name: string): Promise<string>;
}

async function newBudget(client: Client, token: string, name: string): Promise<string> {
  const call = { body: { name, limit: 1_000_000_000 }, token, headers: keyOf(name) };
  return (await client.must('/api/budgets', call)).json.id;
}

function keyOf(name: string): Record<string, string> {
  return { 'idempotency-key': name.replaceAll(' ', '-') };
}

async function expenses(stage: Stage, books: Books, reader: NotificationReader): Promise<Workload> {
  const { ledger, mark } = stage;
  const { client, token } = books;
  const budgetId = await books.newBudget(`${mark} expenses`);
  const ids = new Map<string, string>();
  let turn = 0;
  return {
    name: 'budgets: expenses',
    async step() {
      const description = `${mark} expense ${turn++}`;
      // Clocks of clients are wrong by years.
      const date = `${1990 + (turn % 60)}-03-0${1 + (turn % 9)}`;
      const call = {
        body: { budgetId, description, amount: 1.25, date },
        token,
        headers: keyOf(description),
        expected: [409],
      };
      const { outcome, json } = await client.sendByKey('/api/expenses', call);
      ledger.record('expense', description, outcome);
      if (outcome === 'acknowledged') ids.set(description, json.id);
      return outcome === 'acknowledged';
    },
    async verify() {
      const found = await allOf(client, token, `/api/expenses?budgetId=${budgetId}`);
      ledger.compare(
        'expense',
        found.map(({ description }) => description),
      );
      const { json } = await client.must(`/api/budgets/${budgetId}`, { token });
      if (json.spentMinor !== found.length * 125)
        ledger.report(`expense: ${json.spentMinor} spent in ${found.length} expenses of 125`);
      const ledgerRows = await allOf(client, token, '/api/transactions');
      const entered = ledgerRows.filter(({ description }) => description.startsWith(`${mark} expense`));
      if (entered.length !== found.length)
        ledger.report(`expense: ${entered.length} transactions in the ledger for ${found.length} expenses`);
      await verifyNotifications(stage, books, reader);
      await verifyEvents(stage, ids);
    },
  };
}

/** The reader has every number once and in order, as many as there are. */
async function verifyNotifications({ ledger }: Stage, { client, token }: Books, reader: NotificationReader) {
  const { json } = await client.must('/api/notifications?limit=1', { token });
  const last = json[0]?.seq ?? 0;
  const isLevel = await soon(async () => reader.seqs.length >= last);
  const isWhole = reader.seqs.every((seq, index) => seq === index + 1);
  if (!isLevel || !isWhole)
    ledger.report(
      `notifications: the reader who came back has ${reader.seqs.length} of ${last}, ${isWhole ? 'in order' : 'not in order'}`,
    );
  if (reader.gaps > 0) ledger.report(`notifications: the reader was told of ${reader.gaps} gaps`);
}

async function verifyEvents({ ledger, engines }: Stage, ids: Map<string, string>): Promise<void> {
  const { nats } = engines;
  if (!nats) return;
  const missing = async () => {
    const seen = await eventSubjects(nats.server.url, 'BUDGETS', 'expense.created.v1').catch(
      () => new Set<string>(),
    );
    return [...ids.values()].filter((id) => ![...seen].some((subject) => subject.includes(id)));
  };
  if (!(await soon(async () => (await missing()).length === 0)))
    ledger.report(
      `expense: events of acknowledged writes are missing: ${(await missing()).length} of ${ids.size}`,
    );
}

// biome-ignore lint/suspicious/noExplicitAny: a client reads any list
async function allOf(client: Client, token: string, path: string): Promise<any[]> {
  const all: unknown[] = [];
  let next = `${path}${path.includes('?') ? '&' : '?'}limit=500`;
  while (next !== '') {
    const { json, link } = await client.must(next, { token });
    all.push(...json);
    next = /<([^>]+)>; rel="next"/.exec(link)?.[1]?.replace(/^https?:\/\/[^/]+/, '') ?? '';
  }
  return all;
}

/** Files of the same size, each into a budget of its own. */
async function imports(stage: Stage, books: Books): Promise<Workload> {
  const { ledger, mark } = stage;
  const { client, token } = books;
  const rows = 300;
  /** Rows of its own for each import: those of an earlier one would be duplicates, in any budget. */
  const fileOf = (name: string) =>
    [
      'date,description,amount',
      ...Array.from({ length: rows }, (_, row) => `2026-01-15,${name} row ${row},${row + 1}.50`),
    ].join('\n');
  const budgets = new Map<string, string>();
  let turn = 0;
  const countOf = async (budgetId: string) =>
    Number((await client.must(`/api/expenses?budgetId=${budgetId}&limit=1`, { token })).total);
  return {
    name: 'budgets: imports',
    async step() {
      const name = `${mark} import ${turn++}`;
      const budgetId = await books.newBudget(name);
      const form = new FormData();
      form.append('budgetId', budgetId);
      form.append('format', 'csv');
      form.append(
        'mapping',
        JSON.stringify({ spentOn: 'date', description: 'description', amount: 'amount' }),
      );
      form.append('file', new Blob([fileOf(name)]), 'bank.csv');
      const { outcome, json } = await client.send('/api/import', { body: form, token });
      ledger.record('import', budgetId, outcome);
      budgets.set(budgetId, json?.id ?? '');
      if (outcome !== 'acknowledged') return false;
      return soon(
        async () => (await client.send(`/api/tasks/${json.id}`, { token })).json?.status === 'completed',
        90_000,
      );
    },
    async verify() {
      const imported: string[] = [];
      for (const [budgetId, task] of budgets) {
        await soon(async () => [0, rows].includes(await countOf(budgetId)) && (await isOver(task)), 30_000);
        const count = await countOf(budgetId);
        if (count === rows) imported.push(budgetId);
        else if (count > 0) ledger.report(`import: ${count} of ${rows} rows are there`);
        else if (task !== '')
          ledger.report(`import: no rows, ${(await client.must(`/api/tasks/${task}`, { token })).text}`);
      }
      ledger.compare('import', imported);
    },
  };

  async function isOver(task: string): Promise<boolean> {
    if (task === '') return true;
    const { json } = await client.send(`/api/tasks/${task}`, { token });
    return ['completed', 'failed'].includes(json?.status);
  }
}

/** Calls of gRPC, each by a connection of its own, so that each sees the certificate of the moment. */
async function calls(stage: Stage, books: Books, { authorities }: Certificate): Promise<Workload> {
  const id = await books.newBudget(`${stage.mark} calls`);
  const metadata = Metadata({ authorization: `Bearer ${books.token}` });
  return {
    name: 'budgets: gRPC',
    async step() {
      const channel = createChannel(
        stage.grpcAddressOf('budgets'),
        ChannelCredentials.createSsl(authorities),
      );
      try {
        const { budget } = await createClient(BudgetServiceDefinition, channel).getBudget(
          { id },
          { metadata, signal: AbortSignal.timeout(10_000) },
        );
        if (budget?.id !== id) stage.ledger.report('gRPC: another budget than that which was asked for');
        return true;
      } catch (error) {
        if (error instanceof ClientError && !passing.has(error.code))
          stage.ledger.report(`gRPC: ${Status[error.code]} ${error.details}`);
        return false;
      } finally {
        channel.close();
      }
    },
  };
}

/** Expected codes: no server listens, or an engine does not respond. */
const passing = new Set([
  Status.UNAVAILABLE,
  Status.DEADLINE_EXCEEDED,
  Status.CANCELLED,
  Status.RESOURCE_EXHAUSTED,
]);

/** Follows the notifications by WebSocket, and comes back with the last number that it has, also when one is left out. */
class NotificationReader {
  readonly seqs: number[] = [];
  gaps = 0;

  constructor(client: Client, token: string, over: AbortSignal) {
    void this.#follow(client, token, over);
  }

  async #follow(client: Client, token: string, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const socket = new WebSocket(`${client.address().replace('http', 'ws')}/api/ws`, [], {
        headers: { authorization: `Bearer ${token}` },
        handshakeTimeout: 5_000,
      });
      over.addEventListener('abort', () => socket.terminate());
      const silence = setTimeout(() => socket.terminate(), 15_000);
      socket.on('open', () =>
        socket.send(JSON.stringify({ type: 'resume', lastSeq: this.seqs.at(-1) ?? 0 })),
      );
      socket.on('message', (data) => {
        silence.refresh();
        const { type, seq } = JSON.parse(String(data));
        if (type === 'notification') {
          const next = (this.seqs.at(-1) ?? 0) + 1;
          // Delivery begins by itself where `resume` comes late. The numbers tell.
          if (seq > next) socket.terminate();
          else if (seq === next) this.seqs.push(seq);
        }
        if (type === 'gap') this.gaps++;
      });
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('close', resolve));
      clearTimeout(silence);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
