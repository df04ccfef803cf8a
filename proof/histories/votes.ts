import { query } from './audit.ts';
import { History } from './history.ts';
import { checkLinearizability } from './linearizability.ts';
import { type PollInput, type PollOutput, pollModel, voterModel } from './models.ts';
import {
  anyOf,
  Broken,
  type Cluster,
  certainly,
  mapped,
  type Response,
  send,
  type Workload,
} from './replicas.ts';

interface Poll {
  readonly id: number;
  readonly choices: readonly number[];
}

type Votes = History<PollInput, PollOutput>;

const choiceCount = 3;

/** Votes by programs on one poll, and on another by visitors of the pages, with one vote each. */
export async function votes(cluster: Cluster, token: string): Promise<Workload> {
  const headers = { authorization: `Token ${token}` };
  const at = () => anyOf(cluster, 'polls');
  const [open, limited] = [await makePoll(at, headers, 'none'), await makePoll(at, headers, 'session')];
  const [onOpen, onLimited]: [Votes, Votes] = [new History(), new History()];
  const voters: History<'vote', 'counted' | 'duplicate'>[] = [];
  const read = (history: Votes, poll: Poll) =>
    history.look({ read: true }, async () => {
      const seen = await send(`${at()}/api/choices/?question=${poll.id}`, { headers });
      return mapped(seen, ({ json }) => json.map((choice: { votes: number }) => choice.votes));
    });
  const vote = async () => {
    const choice = Math.floor(Math.random() * choiceCount);
    await onOpen.record({ vote: choice }, async () =>
      mapped(await voteByProgram(at(), open, choice), () => 'counted' as const),
    );
  };
  const voteAtOnce = async () => {
    const cookie = await visit(at(), limited);
    if (!cookie) return;
    const voter: (typeof voters)[number] = new History();
    voters.push(voter);
    const choice = voters.length % choiceCount;
    const onPage = () => voter.record('vote', () => voteOnPage(at(), limited, { choice, cookie }));
    // One of them counts at most, and it counts on the poll while they are under way.
    await onLimited.record({ vote: choice }, async () => {
      const outcomes = await Promise.all([onPage(), onPage(), onPage()]);
      if (outcomes.includes('counted')) return { ok: 'counted' };
      return voter.operations.length > 0 ? 'unknown' : 'failed';
    });
  };
  return {
    clients: [vote, vote, () => looks(read, onOpen, open), voteAtOnce, () => looks(read, onLimited, limited)],
    async check() {
      await Promise.all([read(onOpen, open), read(onLimited, limited)]);
      return [
        ...explain('votes by programs', onOpen, pollModel(choiceCount)),
        ...explain('votes of visitors', onLimited, pollModel(choiceCount)),
        ...voters.flatMap((voter, index) => explain(`visitor ${index}`, voter, voterModel)),
        ...(await countersApart(cluster)),
      ];
    },
  };
}

async function looks(read: (history: Votes, poll: Poll) => Promise<unknown>, history: Votes, poll: Poll) {
  await read(history, poll);
}

/** The explanation of a history that is not linearizable. */
export function explain<State, Input, Output>(
  name: string,
  { operations }: History<Input, Output>,
  model: Parameters<typeof checkLinearizability<State, Input, Output>>[1],
): string[] {
  const verdict = checkLinearizability(operations, model);
  return verdict.isLinearizable ? [] : [`${name}: ${verdict.explanation}`];
}

async function makePoll(
  at: () => string,
  headers: Record<string, string>,
  duplicates: string,
): Promise<Poll> {
  const question = { question_text: 'Which?', pub_date: '2026-01-01T00:00:00Z', duplicates };
  const made = await certainly(at, '/api/questions/', { body: question, headers });
  const choices: number[] = [];
  for (let index = 0; index < choiceCount; index++) {
    const body = { question: made.json.id, choice_text: `Choice ${index}` };
    choices.push((await certainly(at, '/api/choices/', { body, headers })).json.id);
  }
  return { id: made.json.id, choices };
}

async function voteByProgram(url: string, { id, choices }: Poll, choice: number) {
  const outcome = await send(`${url}/api/questions/${id}/vote/`, { body: { choice: choices[choice] } });
  if (typeof outcome !== 'string' && outcome.ok.status !== 200) throw new Broken(outcome.ok.text);
  return outcome;
}

/** The cookie of a new visitor; undefined if the page did not come. */
async function visit(url: string, { id }: Poll): Promise<string | undefined> {
  const page = await send(`${url}/polls/${id}/`);
  if (typeof page === 'string') return undefined;
  return page.ok.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}

async function voteOnPage(
  url: string,
  { id, choices }: Poll,
  { choice, cookie }: { choice: number; cookie: string },
) {
  const body = new URLSearchParams({ choice: String(choices[choice]) });
  const headers = { cookie, origin: url };
  return mapped(await send(`${url}/polls/${id}/vote/`, { body, headers }), verdictOf);
}

function verdictOf({ status, text }: Response): 'counted' | 'duplicate' {
  if (status === 302) return 'counted';
  if (text.includes('You have already voted.')) return 'duplicate';
  throw new Broken(`vote: ${status} ${text}`);
}

/** Choices whose counter is not the number of their votes. */
async function countersApart({ store }: Cluster): Promise<string[]> {
  const sql = `SELECT id, votes, (SELECT count(*) FROM SCHEMA.vote WHERE vote.choice = choice.id) AS rows
    FROM SCHEMA.choice`;
  const rows = await query<{ id: number; votes: number; rows: number }>(store, 'polls', sql);
  return rows
    .filter(({ votes, rows }) => Number(votes) !== Number(rows))
    .map(({ id, votes, rows }) => `choice ${id} counts ${votes} votes and has ${rows}`);
}
