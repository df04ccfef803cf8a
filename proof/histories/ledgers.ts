import { History } from './history.ts';
import { type ListTransaction, listAnomalies } from './list-append.ts';
import {
  type OnceInput,
  type OnceOutput,
  onceModel,
  type SumInput,
  type SumOutput,
  sumModel,
} from './models.ts';
import { anyOf, Broken, type Cluster, certainly, mapped, send, type Workload } from './replicas.ts';
import { explain } from './votes.ts';

type Headers = Readonly<Record<string, string>>;

interface Account {
  readonly at: () => string;
  readonly headers: Headers;
  readonly budgetId: string;
}

const amount = 1.25;

/** Sums of budgets and of their ledger, requests with Idempotency-Keys, and the order of notifications. */
export async function ledgers(cluster: Cluster): Promise<Workload> {
  const at = () => anyOf(cluster, 'budgets');
  const [spender, repeater, listener] = [await register(at), await register(at), await register(at)];
  const parts = [sums(spender), repetitions(repeater), lists(listener)];
  return {
    clients: parts.flatMap(({ clients }) => clients),
    async check() {
      const problems: string[] = [];
      for (const part of parts) problems.push(...(await part.check()));
      return problems;
    },
  };
}

async function register(at: () => string): Promise<Account> {
  const body = { email: `${crypto.randomUUID()}@example.com`, password: 'ferries wait in fog' };
  const { json } = await certainly(at, '/api/auth/register', { body });
  const headers = { authorization: `Bearer ${json.token}` };
  const budget = { name: 'Food', limit: 1_000_000, thresholds: [] };
  const made = await certainly(at, '/api/budgets', { body: budget, headers });
  return { at, headers, budgetId: made.json.id };
}

/** Requires that the spent amount of each budget, and of its ledger, is the sum of its expenses at every moment. */
function sums({ at, headers, budgetId }: Account): Workload {
  const history = new History<SumInput, SumOutput>();
  const live: string[] = [];
  const add = async () => {
    const body = { budgetId, description: 'Ferry', amount };
    const output = await history.record({ add: amount }, async () =>
      mapped(await send(`${at()}/api/expenses`, { body, headers }), ({ status, json, text }) => {
        if (status !== 201) throw new Broken(text);
        return { id: json.id as string };
      }),
    );
    if (typeof output === 'object' && 'id' in output) live.push(output.id);
  };
  const remove = async () => {
    const id = live.shift();
    if (!id) return;
    let output: SumOutput | undefined;
    while (!output)
      output = await history.record({ remove: id, amount }, async () =>
        mapped(
          await send(`${at()}/api/expenses/${id}`, { method: 'DELETE', headers }),
          ({ status, text }) => {
            if (status !== 200 && status !== 404) throw new Broken(text);
            return status === 200 ? ('removed' as const) : ('missing' as const);
          },
        ),
      );
  };
  const read = async () => {
    await history.look({ read: true }, async () =>
      mapped(await send(`${at()}/api/budgets/${budgetId}`, { headers }), ({ json }) => ({ sum: json.spent })),
    );
  };
  const readLedger = async () => {
    await history.look({ read: true }, async () =>
      mapped(await send(`${at()}/api/transactions?limit=500`, { headers }), ({ json }) => ({
        sum: balanceOf(json, `expenses:${budgetId}`),
      })),
    );
  };
  return {
    clients: [add, add, remove, read, readLedger],
    async check() {
      await Promise.all([read(), readLedger()]);
      return explain('a sum', history, sumModel);
    },
  };
}

interface LedgerTransaction {
  readonly entries: readonly {
    readonly account: string;
    readonly side: string;
    readonly amountMinor: number;
  }[];
}

/** The balance of an account of the ledger. Throws if the entries of a transaction do not add up to nothing. */
function balanceOf(transactions: readonly LedgerTransaction[], account: string): number {
  let minor = 0;
  for (const { entries } of transactions) {
    let sum = 0;
    for (const { side, amountMinor, account: of } of entries) {
      const signed = side === 'debit' ? amountMinor : -amountMinor;
      sum += signed;
      if (of === account) minor += signed;
    }
    if (sum !== 0) throw new Broken(`entries that do not add up: ${JSON.stringify(entries)}`);
  }
  return minor / 100;
}

/** Uses each key for a request at several replicas at once, until one of them has told its result. */
function repetitions({ at, headers, budgetId }: Account): Workload {
  const histories: History<OnceInput, OnceOutput>[] = [];
  const repeat = async () => {
    const history = new History<OnceInput, OnceOutput>();
    histories.push(history);
    const key = crypto.randomUUID();
    const post = (description: string) =>
      history.record({ send: description }, async () => {
        const body = { budgetId, description, amount, tags: [key] };
        const keyed = { ...headers, 'idempotency-key': key };
        return mapped(
          await send(`${at()}/api/expenses`, { body, headers: keyed }),
          ({ status, json, text }) => {
            if (status === 409) return 'conflict' as const;
            if (status !== 201) throw new Broken(text);
            return { id: json.id as string };
          },
        );
      });
    const find = () =>
      history.look({ find: true }, async () =>
        mapped(await send(`${at()}/api/expenses?tag=${key}`, { headers }), ({ json }) =>
          json.map(({ id }: { id: string }) => id),
        ),
      );
    while ((await Promise.all([post('Ferry'), post('Ferry'), find()])).slice(0, 2).includes(undefined));
    await post('Another');
    await find();
  };
  return {
    clients: [repeat, repeat],
    check: async () => histories.flatMap((each, index) => explain(`key ${index}`, each, onceModel)),
  };
}

/** Notifications of an account are a list that only grows, by `seq`, and is the same at every replica. */
function lists({ at, headers }: Account): Workload {
  const history: ListTransaction[] = [];
  let count = 0;
  const append = async () => {
    const message = `message ${count++}`;
    const invokedAt = performance.now();
    const outcome = await send(`${at()}/api/notifications`, { body: { message }, headers });
    if (typeof outcome !== 'string' && outcome.ok.status !== 201) throw new Broken(outcome.ok.text);
    const returnedAt = performance.now();
    const how = typeof outcome === 'string' ? outcome : 'ok';
    const steps = [{ list: 'notifications', append: message }];
    history.push({ name: `W${history.length}`, outcome: how, invokedAt, returnedAt, steps });
  };
  const read = async () => {
    const invokedAt = performance.now();
    const outcome = await send(`${at()}/api/notifications?limit=500`, { headers });
    const returnedAt = performance.now();
    if (typeof outcome === 'string') return;
    const messages = (outcome.ok.json as { seq: number; type: string; message: string }[])
      .filter(({ type }) => type === 'message')
      .sort((one, other) => one.seq - other.seq)
      .map(({ message }) => message);
    const steps = [{ list: 'notifications', read: messages }];
    history.push({ name: `R${history.length}`, outcome: 'ok', invokedAt, returnedAt, steps });
  };
  return {
    clients: [append, append, read, read],
    async check() {
      await read();
      return listAnomalies(history);
    },
  };
}
