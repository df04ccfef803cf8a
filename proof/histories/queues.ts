import { setTimeout as delay } from 'node:timers/promises';
import type { SmtpSink } from '@octavo/testing/engines';
import { type ClaimTable, claimChanges, jobQueue, mailQueue } from './audit.ts';
import { claimProblems, unfinished } from './claims.ts';
import { anyOf, Broken, type Cluster, certainly, send, type Workload } from './replicas.ts';

/** Mails of sign-in links: each acknowledged one is sent, always under one Message-ID, and claimed by one worker at a time. */
export function mails(cluster: Cluster, sink: SmtpSink): Workload {
  const wanted: string[] = [];
  const ask = async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const body = { email };
    const outcome = await send(`${anyOf(cluster, 'passwordless')}/request/magic`, { body });
    if (typeof outcome === 'string') return;
    if (outcome.ok.status !== 200) throw new Broken(outcome.ok.text);
    wanted.push(email);
  };
  return {
    clients: [ask, ask],
    async check() {
      await drained(cluster, mailQueue);
      const changes = await claimChanges(cluster.store, mailQueue);
      const sent = Map.groupBy(sink.caught, ({ to }) => to[0]);
      return [
        ...claimProblems(changes),
        ...wanted.filter((email) => !sent.has(email)).map((email) => `${email} got no mail`),
        ...[...sent]
          .filter(([, copies]) => new Set(copies.map(({ messageId }) => messageId)).size > 1)
          .map(([email]) => `${email} got two mails`),
      ];
    },
  };
}

const postCount = 60;

/** Reanalyses of all posts, as jobs: each is claimed by one worker at a time, ends once, and counts every post. */
export async function jobs(cluster: Cluster, password: string): Promise<Workload> {
  const at = () => anyOf(cluster, 'gateway');
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    certainly(at, `/api/v1${path}`, { body, headers });
  const { json } = await post('/auth/login', { username: 'admin', password });
  const headers = { authorization: `Bearer ${json.data.token}` };
  const posts = Array.from({ length: postCount }, (_, index) => ({
    title: `Post ${index}`,
    body: 'I love fog.',
  }));
  await post('/posts/bulk', { posts }, { ...headers, 'idempotency-key': 'posts' });
  const problems: string[] = [];
  const reanalyze = async () => {
    const started = await send(`${at()}/api/v1/posts/reanalyze`, { method: 'POST', headers });
    if (typeof started === 'string') return;
    if (started.ok.status !== 202) throw new Broken(started.ok.text);
    const { jobId } = started.ok.json.data;
    const ended = await endOf(at, `/api/v1/posts/reanalyze/${jobId}`, headers);
    const { posts, classified, statisticsRepaired } = ended.result ?? {};
    if (posts !== postCount || classified !== postCount || statisticsRepaired)
      problems.push(`a reanalysis ended with ${JSON.stringify(ended)}`);
  };
  return {
    clients: [reanalyze],
    async check() {
      await drained(cluster, jobQueue);
      const changes = await claimChanges(cluster.store, jobQueue);
      // The job of a reanalysis without reports counts as lost, also when its process was only frozen. It finds that all is done.
      return [...problems, ...claimProblems(changes, { mayComeAgain: true })];
    },
  };
}

/** A reanalysis once it has ended. It may wait again after its process ended, but an end is final. */
async function endOf(at: () => string, path: string, headers: Record<string, string>) {
  const look = async () => {
    const looked = await send(`${at()}${path}`, { headers });
    if (typeof looked === 'string') return undefined;
    if (looked.ok.status !== 200) throw new Broken(looked.ok.text);
    return looked.ok.json.data;
  };
  // biome-ignore lint/suspicious/noExplicitAny: a test inspects any response
  let last: any;
  for (const endMs = performance.now() + patienceMs; performance.now() < endMs; await delay(100)) {
    const seen = (await look()) ?? last;
    last = seen;
    if (!seen || seen.status === 'queued' || seen.status === 'running') continue;
    const again = (await look()) ?? seen;
    if (again.status !== seen.status) throw new Broken(`${seen.status} became ${again.status}`);
    return seen;
  }
  throw new Broken(`a reanalysis has not ended: ${JSON.stringify(last)}`);
}

/** Longer than a worker waits for anything, on a machine that is busy with other tests. */
const patienceMs = 90_000;

/** Resolves when nothing waits in the queue. Throws if nothing was done for long. */
async function drained({ store }: Cluster, table: ClaimTable): Promise<void> {
  let left = Number.POSITIVE_INFINITY;
  for (let endMs = performance.now() + patienceMs; left > 0; await delay(200)) {
    const changes = await claimChanges(store, table);
    const open = unfinished(changes);
    if (open.length < left) endMs = performance.now() + patienceMs;
    left = open.length;
    const last = changes.findLast(({ id }) => id === open[0]);
    if (performance.now() > endMs)
      throw new Error(`${left} are left, the first of them ${JSON.stringify(last)}`);
  }
}
