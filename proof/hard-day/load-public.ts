import type { Client } from './client.ts';
import { type Stage, soon, type Workload } from './workload.ts';

const password = 'ferries wait in fog';

/** Votes that are counted, and a reader of live results. */
export async function pollsLoad(stage: Stage): Promise<Workload[]> {
  await stage.octavo(['admin', 'create', 'polls', 'alice'], { ADMIN_PASSWORD: password });
  const client = stage.clientOf('polls');
  const { token } = (await client.must('/api/token/', { body: { username: 'alice', password } })).json;
  const authorized = { authorization: `Token ${token}` };
  const question = {
    question_text: `Hard day ${stage.mark}?`,
    pub_date: '2026-01-01T00:00:00Z',
    results: 'always',
  };
  const { id } = (await client.must('/api/questions/', { body: question, headers: authorized })).json;
  const choices: number[] = [];
  for (const choice_text of ['Fog', 'Rain', 'Sun']) {
    const body = { question: id, choice_text };
    choices.push((await client.must('/api/choices/', { body, headers: authorized })).json.id);
  }
  const results = new ResultsReader(client, id, stage.over);
  return [votes(stage, { id, choices, authorized, results })];
}

function votes(
  stage: Stage,
  poll: { id: number; choices: number[]; authorized: Record<string, string>; results: ResultsReader },
): Workload {
  const client = stage.clientOf('polls');
  const counts = poll.choices.map(() => ({ acknowledged: 0, unknown: 0, refused: 0 }));
  let turn = 0;
  return {
    name: 'polls: votes',
    async step() {
      const index = turn++ % poll.choices.length;
      const { outcome } = await client.send(`/api/questions/${poll.id}/vote/`, {
        body: { choice: poll.choices[index] },
      });
      const count = counts[index];
      if (count) count[outcome]++;
      stage.ledger.record('vote', String(turn), outcome);
      return outcome === 'acknowledged';
    },
    async verify() {
      const { json } = await client.must(`/api/choices/?question=${poll.id}`, { headers: poll.authorized });
      for (const [index, { acknowledged, unknown }] of counts.entries()) {
        const { votes: counted } = json.find((choice: { id: number }) => choice.id === poll.choices[index]);
        if (counted < acknowledged || counted > acknowledged + unknown)
          stage.ledger.report(
            `vote: ${counted} counted, ${acknowledged} acknowledged and ${unknown} unknown`,
          );
      }
      const total = json.reduce((sum: number, { votes: each }: { votes: number }) => sum + each, 0);
      if (!(await soon(async () => poll.results.total === total)))
        stage.ledger.report(`vote: a reader of live results saw ${poll.results.total} votes of ${total}`);
      if (poll.results.hasFallen) stage.ledger.report('vote: the counts of live results fell');
    },
  };
}

/** Quotes, likes and comments. */
export async function quotesLoad(stage: Stage): Promise<Workload[]> {
  const { ledger, mark } = stage;
  const client = stage.clientOf('quotes');
  const username = `reader-${mark}`;
  const account = { username, password, email: `${username}@example.com` };
  await client.must('/api/register/', { body: account, expected: [400] }).catch(() => undefined);
  const signIn = async () =>
    (await client.must('/api/token/', { body: { username, password } })).json.access as string;
  let token = await signIn();
  let signedInMs = Date.now();
  const ids = new Map<string, number>();
  let turn = 0;
  return [
    {
      name: 'quotes: quotes, likes and comments',
      async step() {
        if (Date.now() - signedInMs > 200_000) {
          token = await signIn();
          signedInMs = Date.now();
        }
        const text = `Quote ${turn++} of ${mark}.`;
        const { outcome, json } = await client.send('/api/quotes/', {
          body: { text, author: mark, category: 'Life' },
          token,
        });
        ledger.record('quote', text, outcome);
        if (outcome !== 'acknowledged') return false;
        ids.set(text, json.id);
        const like = await client.send(`/api/quotes/${json.id}/like/`, { method: 'POST', token });
        ledger.record('like', text, like.outcome);
        const comment = await client.send(`/api/quotes/${json.id}/comments/`, { body: { text }, token });
        ledger.record('comment', text, comment.outcome);
        return like.outcome === 'acknowledged' && comment.outcome === 'acknowledged';
      },
      async verify() {
        const quotes: { id: number; text: string; like_set: number[] }[] = [];
        do {
          const path = `/api/quotes/?author=${mark}&limit=100&offset=${quotes.length}`;
          const { json } = await client.must(path);
          quotes.push(...json);
          if (json.length < 100) break;
        } while (quotes.length > 0);
        ledger.compare(
          'quote',
          quotes.map(({ text }) => text),
        );
        ledger.compare(
          'like',
          quotes.flatMap(({ text, like_set }) => like_set.map(() => text)),
        );
        const comments: string[] = [];
        for (const { id } of quotes) {
          const { json } = await client.must(`/api/quotes/${id}/comments/`);
          comments.push(...json.map(({ text }: { text: string }) => text));
        }
        ledger.compare('comment', comments);
      },
    },
  ];
}

/** Follows the results of a poll as server-sent events, and connects again whenever the stream ends. */
class ResultsReader {
  total = 0;
  hasFallen = false;

  constructor(client: Client, id: number, over: AbortSignal) {
    void this.#follow(client, id, over);
  }

  async #follow(client: Client, id: number, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      try {
        const response = await fetch(`${client.address()}/polls/${id}/results/stream`, { signal: over });
        let text = '';
        for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          text += piece;
          const messages = text.split('\n\n');
          text = messages.pop() ?? '';
          for (const message of messages) this.#take(message);
        }
      } catch {
        // The next replica, or the same one after its restart, has all counts.
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  #take(message: string): void {
    const data = /^data: (.*)$/m.exec(message)?.[1];
    if (data === undefined) return;
    const counts = [...data.matchAll(/"votes":(\d+)/g)].map(([, votes]) => Number(votes));
    const total = counts.reduce((sum, each) => sum + each, 0);
    if (total < this.total) this.hasFallen = true;
    this.total = total;
  }
}
