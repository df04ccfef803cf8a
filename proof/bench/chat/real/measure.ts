import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startProcess, stopProcess } from '../../../../apps/octavo/testing.ts';
import {
  type Ask,
  type Grade,
  gradeOf,
  isMarked,
  questionsOf,
  type RealQuestion,
  type RealSet,
  type Reply,
} from './grades.ts';
import { type LibraryFile, readLibrary } from './library.ts';

/** A question with its reply and its grade. */
export interface Graded extends Ask {
  readonly kind: string;
  readonly reply: Reply;
  readonly grade: Grade;
}

export interface RealOptions {
  readonly sets: readonly RealSet[];
  /** Prints each question with its answer. */
  readonly isVerbose: boolean;
  /** Keeps downloaded packages for the next run. */
  readonly folder?: string | undefined;
  /** Settings of a language model that writes the answers; they are quoted without one. */
  readonly model?: Readonly<Record<string, string>> | undefined;
}

/** Questions that people ask about documents from outside this project, without a model or with one. */
export async function measureReal({ sets, ...options }: RealOptions): Promise<void> {
  for (const set of sets) {
    console.log(`${set} set:`);
    await measureSet(set, options);
  }
}

async function measureSet(set: RealSet, { folder, ...options }: Omit<RealOptions, 'sets'>): Promise<void> {
  const packages = folder ?? mkdtempSync(join(tmpdir(), 'octavo-packages-'));
  try {
    await measureLibrary(readLibrary(packages, set), questionsOf(set), options);
  } finally {
    if (folder === undefined) rmSync(packages, { recursive: true });
  }
}

/** Uploads documents to a chat of its own, asks it the questions, prints the shares of each grade and returns the graded replies. */
export async function measureLibrary(
  files: readonly LibraryFile[],
  questions: readonly RealQuestion[],
  { isVerbose, model }: Pick<RealOptions, 'isVerbose' | 'model'>,
): Promise<Graded[]> {
  const place = mkdtempSync(join(tmpdir(), 'octavo-real-'));
  const { url, child } = await startProcess('chat', {
    OCTAVO_DATA: place,
    LOG_LEVEL: 'error',
    CHAT_RATE_LIMIT: '0',
    UPLOAD_RATE_LIMIT: '0',
    ...model,
  });
  try {
    for (const { name, content } of files) {
      const body = new FormData();
      body.append('file', new Blob([content]), name);
      const response = await fetch(`${url}/api/upload`, { method: 'POST', body });
      if (response.status !== 201) throw new Error(`${name}: ${await response.text()}`);
    }
    const graded = await gradeAll(url, questions);
    if (isVerbose) for (const each of graded) printOne(each);
    printShares(graded);
    if (model) printSupport(graded);
    return graded;
  } finally {
    await stopProcess(child);
    rmSync(place, { recursive: true });
  }
}

async function gradeAll(url: string, questions: readonly RealQuestion[]): Promise<Graded[]> {
  const graded: Graded[] = [];
  for (const { kind, turns, ask = '', ...expected } of questions) {
    let session: string | undefined;
    for (const [place, turn] of (turns ?? [{ ask, ...expected }]).entries()) {
      const body = { query: turn.ask, use_tools: false, session_id: session };
      const reply = await replyTo(url, body);
      session = reply.session_id;
      const name = kind === 'conversation' ? (place === 0 ? 'first turn' : 'follow-up') : kind;
      const grade = gradeOf(turn, reply);
      const isRefusable = kind === 'near' && grade !== 'refused';
      graded.push({ ...turn, kind: name, reply, grade: isRefusable ? 'wrong' : grade });
    }
  }
  return graded;
}

const triesMax = 5;

/** The reply to a question. A busy server is asked again; any other error ends the measurement, as it is no answer that could be graded. */
async function replyTo(url: string, body: object): Promise<Reply & { readonly session_id: string }> {
  for (let tries = 1; ; tries++) {
    const response = await fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.ok) return (await response.json()) as Reply & { session_id: string };
    if (tries === triesMax || (response.status !== 429 && response.status !== 503))
      throw new Error(`${response.status}: ${await response.text()}`);
    await setTimeout(1_000 * Number(response.headers.get('retry-after') ?? 1));
  }
}

/** Number of answers that the model wrote, and of those that are no refusals and have a source for all that they state. */
function printSupport(graded: readonly Graded[]): void {
  const written = graded.filter(({ reply }) => reply.metadata.mode === 'llm');
  const answers = written.filter(({ reply }) => !reply.abstained);
  const grounded = answers.filter(({ reply }) => reply.grounded).length;
  console.log(
    `written by the model: ${written.length} of ${graded.length}; grounded ${grounded} of ${answers.length} answers`,
  );
}

function printOne({ kind, ask, reply, grade }: Graded): void {
  const text = reply.answer.replace(/\s+/g, ' ').slice(0, 400);
  console.log(`${kind} ${grade} ${reply.metadata.confidence.toFixed(2)}: ${ask}\n    ${text}`);
}

function printShares(graded: readonly Graded[]): void {
  for (const kind of ['answerable', 'near', 'everyday', 'first turn', 'follow-up']) {
    const own = graded.filter((each) => each.kind === kind);
    const shares = (['right', 'long', 'wrong', 'refused'] as const).map((grade) => {
      const count = own.filter((each) => each.grade === grade).length;
      return `${grade} ${count} (${((100 * count) / own.length).toFixed(1)} %)`;
    });
    const marked = own.filter((each) => (each.says ?? []).length > 0 && isMarked(each, each.reply)).length;
    const inThree =
      kind === 'near' || kind === 'everyday' ? '' : `; the right place in three passages ${marked}`;
    console.log(`${kind.padEnd(12)} ${own.length}: ${shares.join(', ')}${inThree}`);
  }
  const answered = graded.filter(({ grade, kind }) => grade !== 'refused' && kind !== 'everyday');
  for (const [from, to] of [
    [0, 0.6],
    [0.6, 0.75],
    [0.75, 0.9],
    [0.9, 1.01],
  ] as const) {
    const own = answered.filter(
      ({ reply: { metadata } }) => metadata.confidence >= from && metadata.confidence < to,
    );
    const right = own.filter(({ grade, kind }) => kind !== 'near' && grade !== 'wrong').length;
    console.log(`confidence ${from} to ${Math.min(1, to)}: ${right} of ${own.length} right`);
  }
}
