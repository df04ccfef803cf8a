import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { testFolder } from '@octavo/testing';
import type { Client } from './client.ts';
import { type Stage, soon, type Workload } from './workload.ts';

/** Turns with a `request_id`, streams that come back where they were, and uploads. */
export async function chatLoad(stage: Stage): Promise<Workload[]> {
  const client = stage.clientOf('chat');
  const sessionOf = async () => (await client.must('/api/session', { body: {} })).json.session_id as string;
  return [
    await turns(stage, client, sessionOf),
    await streams(stage, client, sessionOf),
    uploads(stage, client),
  ];
}

async function turns(stage: Stage, client: Client, sessionOf: () => Promise<string>): Promise<Workload> {
  const { ledger, mark } = stage;
  const perSession = 40;
  const sessions = [await sessionOf()];
  let turn = 0;
  return {
    name: 'chat: turns',
    async step() {
      if (turn % perSession === perSession - 1) sessions.push(await sessionOf());
      const query = `${mark} question ${turn++}: when do the ferries wait?`;
      const body = { query, session_id: sessions.at(-1), request_id: `${mark}-${turn}` };
      const { outcome, json } = await client.sendByKey('/api/chat', { body, expected: [409] });
      ledger.record('turn', query, outcome);
      if (outcome !== 'acknowledged') return false;
      const again = await client.send('/api/chat', { body, expected: [409] });
      // An attempt that a fault cut off may have cancelled the turn, which then is run again for who asks again.
      const reasons = [json, again.json].map((turn) => turn?.metadata?.finish_reason);
      const isComparable = again.outcome === 'acknowledged' && !reasons.includes('cancelled');
      if (isComparable && again.json.answer !== json.answer)
        ledger.report(`turn: the same request_id has two answers (${reasons.join(' and ')})`);
      return true;
    },
    async verify() {
      const asked: string[] = [];
      for (const session of sessions) {
        const { messages } = (await client.must(`/api/session/${session}?limit=200`)).json;
        for (const [index, { role, content }] of messages.entries()) {
          if (role !== 'user') continue;
          const answer = messages[index + 1];
          if (answer?.role !== 'assistant') ledger.report('turn: a question is kept without an answer');
          // A client that left has cancelled its turn, which is kept, and run again for who asks again.
          else if (answer.metadata.finish_reason !== 'cancelled') asked.push(content);
        }
      }
      ledger.compare('turn', asked);
    },
  };
}

/** Streams that are left after two events, and asked for again from there: no event is missing and none comes twice. */
async function streams(
  { ledger, mark }: Stage,
  client: Client,
  sessionOf: () => Promise<string>,
): Promise<Workload> {
  // A session each would soon be more than are kept.
  const session_id = await sessionOf();
  let turn = 0;
  return {
    name: 'chat: resumed streams',
    async step() {
      const body = {
        query: `Fog ${turn}?`,
        request_id: `${mark}-stream-${turn++}`,
        stream: true,
        session_id,
      };
      const ids: number[] = [];
      let last = '';
      for (let attempt = 0; attempt < 30 && last !== 'done'; attempt++) {
        for await (const { id, event } of eventsOf(client, body, ids.at(-1))) {
          // A turn that another process begins again says so again to a client that has seen only its start.
          if (event === 'start' && ids.length === 1) ids.pop();
          ids.push(id);
          last = event;
          if (attempt === 0 && ids.length === 2) break;
        }
        if (last !== 'done') await delay(200);
      }
      if (ids.some((id, index) => index > 0 && id !== (ids[index - 1] as number) + 1))
        ledger.report(`stream: the events that a reader got were ${ids.join()}`);
      return last === 'done';
    },
  };
}

async function* eventsOf(client: Client, body: object, lastEventId: number | undefined) {
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
  };
  try {
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) };
    const response = await fetch(`${client.address()}/api/chat`, init);
    if (response.status !== 200) return void (await response.arrayBuffer());
    let text = '';
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        const [, id, event] = /^id: (\d+)\nevent: (\w+)\n/.exec(message) ?? [];
        if (id !== undefined && event !== undefined) yield { id: Number(id), event };
      }
    }
  } catch {
    // The connection was cut, or its process is frozen: the next one goes on.
  }
}

function uploads({ ledger, mark }: Stage, client: Client): Workload {
  let turn = 0;
  return {
    name: 'chat: uploads',
    async step() {
      const name = `${mark}-document-${turn++}.md`;
      const form = new FormData();
      form.append(
        'file',
        new Blob([`# Ferry ${turn}\n\nFerry ${name} waits in fog for ${turn} hours.\n`]),
        name,
      );
      const { outcome, json } = await client.send('/api/upload', { body: form });
      ledger.record('document', name, outcome);
      await delay(200);
      return outcome === 'acknowledged' && json.documents?.[0]?.status === 'indexed';
    },
    async verify() {
      const found: { filename: string; status: string }[] = [];
      let cursor = '';
      do {
        const { json } = await client.must(
          `/api/documents?limit=100&q=${mark}${cursor && `&cursor=${cursor}`}`,
        );
        found.push(...json.documents);
        cursor = json.cursor ?? json.next_cursor ?? '';
      } while (cursor !== '');
      const names = found.filter(({ status }) => status === 'indexed').map(({ filename }) => filename);
      ledger.compare(
        'document',
        names.filter((name) => name.startsWith(`${mark}-document-`)),
      );
    },
  };
}

/** Reads that are always the same, and imports by the command line, each all or nothing. */
export async function portfolioLoad(stage: Stage): Promise<Workload[]> {
  const { ledger, mark } = stage;
  const client = stage.clientOf('portfolio');
  const tokenOf = async () => (await client.must('/auth/token')).json.token as string;
  let token = await tokenOf();
  const rows = 40;
  const folder = testFolder('hard-day-import');
  const status = new Map<string, number>();
  let turn = 0;
  const membersOf = async (name: string): Promise<number> => {
    const { json } = await client.must(`/api/team?limit=100&q=${name}`, { token });
    return json.filter((member: { name: string }) => member.name.startsWith(`${name} `)).length;
  };
  return [
    {
      name: 'portfolio: reads',
      async step() {
        if (turn++ % 500 === 499) token = await tokenOf();
        const { outcome, json } = await client.send('/api/team?limit=5', { token });
        if (outcome === 'acknowledged' && json.length === 0) ledger.report('portfolio: the team is empty');
        return outcome === 'acknowledged';
      },
    },
    {
      name: 'portfolio: imports',
      isRare: true,
      async step() {
        const name = `${mark}team${status.size}`;
        const file = join(folder, `${name}.csv`);
        writeFileSync(
          file,
          ['name,role', ...Array.from({ length: rows }, (_, row) => `${name} Member ${row},Partner`)].join(
            '\n',
          ),
        );
        status.set(name, await stage.octavo(['import', 'portfolio', file, '--kind', 'team']));
        ledger.record('import of a team', name, status.get(name) === 0 ? 'acknowledged' : 'unknown');
        await delay(5_000);
        return status.get(name) === 0;
      },
      async verify() {
        const imported: string[] = [];
        token = await tokenOf();
        for (const name of status.keys()) {
          await soon(async () => (await membersOf(name)) === rows, status.get(name) === 0 ? 10_000 : 0);
          const count = await membersOf(name);
          if (count === rows) imported.push(name);
          else if (count > 0) ledger.report(`import of a team: ${count} of ${rows} rows are there`);
        }
        ledger.compare('import of a team', imported);
      },
    },
  ];
}
