import { setTimeout as delay } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Client, Reply } from './client.ts';
import { type Stage, soon, type Workload } from './workload.ts';

export const postPasswords = {
  DEMO_ADMIN_PASSWORD: 'admin-of-the-tests',
  DEMO_EDITOR_PASSWORD: 'editor-of-the-tests',
  DEMO_VIEWER_PASSWORD: 'viewer-of-the-tests',
};

/** Posts that are created, deleted, classified and analyzed again, exports that are stored, and events of all that. */
export async function postsLoad(stage: Stage): Promise<Workload[]> {
  const client = stage.clientOf('gateway');
  const login = { username: 'admin', password: postPasswords.DEMO_ADMIN_PASSWORD };
  const { token } = (await client.must('/api/v1/auth/login', { body: login })).json.data;
  const gateway = new Gateway(client, token);
  const ids = new Map<string, number>();
  return [
    writes(stage, gateway, ids),
    sentiments(stage, gateway),
    reanalyses(stage, gateway),
    exports(stage, gateway),
  ];
}

/** The API as an administrator. */
class Gateway {
  readonly client: Client;
  readonly token: string;

  constructor(client: Client, token: string) {
    this.client = client;
    this.token = token;
  }

  create(title: string, headers: Record<string, string> = {}): Promise<Reply> {
    const body = { title, body: 'I love it when the ferries wait.' };
    const call = { body, headers, token: this.token, expected: [409] };
    return headers['idempotency-key']
      ? this.client.sendByKey('/api/v1/posts', call)
      : this.client.send('/api/v1/posts', call);
  }

  get(path: string, expected: readonly number[] = []): Promise<Reply> {
    return this.client.send(`/api/v1${path}`, { token: this.token, expected });
  }

  must(path: string): Promise<Reply> {
    return this.client.must(`/api/v1${path}`, { token: this.token });
  }
}

/** Half of the posts have an `Idempotency-Key`; a fifth are deleted again. */
function writes(stage: Stage, gateway: Gateway, ids: Map<string, number>): Workload {
  const { ledger, mark } = stage;
  let turn = 0;
  return {
    name: 'posts: writes',
    async step() {
      const title = `${mark} post ${turn++}`;
      const { outcome, json } = await gateway.create(
        title,
        turn % 2 ? { 'idempotency-key': title.replaceAll(' ', '-') } : {},
      );
      ledger.record('post', title, outcome);
      if (outcome !== 'acknowledged') return false;
      ids.set(title, json.data.id);
      if (turn % 5 !== 0) return true;
      const call = { method: 'DELETE', token: gateway.token };
      const deleted = await gateway.client.send(`/api/v1/posts/${json.data.id}`, call);
      ledger.record('deletion of a post', title, deleted.outcome);
      return deleted.outcome === 'acknowledged';
    },
    async verify() {
      const present = await titlesOf(gateway, mark);
      const gone = ledger.keys('post', 'acknowledged').filter((title) => !present.includes(title));
      const deletions = new Set([
        ...ledger.keys('deletion of a post', 'acknowledged'),
        ...ledger.keys('deletion of a post', 'unknown'),
      ]);
      ledger.compare('post', [...present, ...gone.filter((title) => deletions.has(title))]);
      ledger.compare('deletion of a post', gone);
      const isClassified = () => allClassified(gateway, mark, present.length);
      if (!(await soon(isClassified))) ledger.report('post: some have no sentiment a minute after the day');
      await compareEvents(stage, { stream: 'OCTAVO_POSTS', type: 'post.created.v1', kind: 'post', ids });
    },
  };
}

async function titlesOf(gateway: Gateway, mark: string): Promise<string[]> {
  const titles: string[] = [];
  for (let page = 1; ; page++) {
    const { data, pagination } = (await gateway.must(`/posts?search=${mark}&pageSize=100&page=${page}`)).json;
    titles.push(...data.map(({ title }: { title: string }) => title));
    if (!pagination.hasNext) return titles.filter((title) => title.includes(' post '));
  }
}

async function allClassified(gateway: Gateway, mark: string, least: number): Promise<boolean> {
  let classified = 0;
  for (const label of ['positive', 'neutral', 'negative']) {
    const { json } = await gateway.must(`/posts?search=${mark}&sentiment=${label}&pageSize=1`);
    classified += json.pagination.totalItems;
  }
  return classified >= least;
}

/** Compares the acknowledged writes of a kind, which must all be among the events of a stream, and the refused ones, which must not. */
async function compareEvents(
  { ledger, engines }: Stage,
  { stream, type, kind, ids }: { stream: string; type: string; kind: string; ids: Map<string, number> },
): Promise<void> {
  if (!engines.nats) return;
  const wanted = new Set(ledger.keys(kind, 'acknowledged').map((title) => String(ids.get(title))));
  const missing = async () => {
    const seen = await eventSubjects(engines.nats?.server.url ?? '', stream, type);
    return [...wanted].filter((id) => !seen.has(id));
  };
  if (!(await soon(async () => (await missing()).length === 0)))
    ledger.report(`${kind}: events of acknowledged writes are missing: ${(await missing()).slice(0, 5)}`);
}

/** Subjects of the events of a type that are in a stream. */
export async function eventSubjects(server: string, stream: string, type: string): Promise<Set<string>> {
  const connection = await connect({ servers: server, timeout: 5_000 });
  try {
    const consumer = await jetstream(connection).consumers.get(stream);
    const subjects = new Set<string>();
    for (;;) {
      const batch = await consumer.fetch({ max_messages: 500, expires: 1_000 });
      let count = 0;
      for await (const message of batch) {
        count++;
        if (message.headers?.get('ce-type') === type) subjects.add(message.headers.get('ce-subject'));
      }
      if (count === 0) return subjects;
    }
  } finally {
    await connection.close();
  }
}

/** Posts until each has its sentiment, which the events carry to the model. */
function sentiments({ mark }: Stage, gateway: Gateway): Workload {
  let turn = 0;
  return {
    name: 'posts: events to sentiment',
    async step() {
      const { outcome, json } = await gateway.create(`${mark} classified ${turn++}`);
      if (outcome !== 'acknowledged') return false;
      return soon(async () => (await gateway.get(`/posts/${json.data.id}/sentiment`, [404])).status === 200);
    },
  };
}

/** Reanalyses until each has succeeded. */
function reanalyses({ ledger }: Stage, gateway: Gateway): Workload {
  const statusOf = async (id: string) =>
    (await gateway.get(`/posts/reanalyze/${id}`)).json?.data?.status as string;
  return {
    name: 'posts: reanalyses',
    async step() {
      const { outcome, json } = await gateway.client.send('/api/v1/posts/reanalyze', {
        method: 'POST',
        token: gateway.token,
      });
      if (outcome !== 'acknowledged') return false;
      const { jobId } = json.data;
      ledger.record('reanalysis', jobId, outcome);
      const isDone = await soon(async () => (await statusOf(jobId)) === 'succeeded', 90_000);
      await delay(500);
      return isDone;
    },
    async verify() {
      const succeeded: string[] = [];
      for (const id of ledger.keys('reanalysis', 'acknowledged')) {
        if (await soon(async () => (await statusOf(id)) === 'succeeded')) succeeded.push(id);
        else ledger.report(`reanalysis: ${id} is ${await statusOf(id)} a minute after the day`);
      }
    },
  };
}

/** Downloads, whose copies are stored. A copy may be dropped while the store is away, but what is listed is whole. */
function exports({ ledger, mark }: Stage, gateway: Gateway): Workload {
  const isWhole = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const listed = async (): Promise<{ Key: string }[]> => (await gateway.get('/exports')).json?.data ?? [];
  return {
    name: 'posts: stored exports',
    async step() {
      const before = new Set((await listed()).map(({ Key }) => Key));
      const { outcome, text } = await gateway.get(`/posts/export?search=${mark}`);
      if (outcome !== 'acknowledged') return false;
      if (!isWhole(text)) ledger.report('export: a download that ended well is cut off');
      // The copy of a download is kept soon after it, or not at all.
      return soon(async () => (await listed()).some(({ Key }) => !before.has(Key)), 5_000);
    },
    async verify() {
      for (const { Key } of (await listed()).slice(0, 20)) {
        if (!isWhole((await gateway.must(`/exports/${Key}`)).text))
          ledger.report(`export: ${Key} is cut off`);
      }
    },
  };
}
