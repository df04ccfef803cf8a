import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@octavo/core/log';
import { type Database, openDatabase } from '@octavo/data';
import { indexSet, readLabelledSet } from '../../services/chat/evaluation/index.ts';
import type { LabelledQuestion, LabelledSet } from '../../services/chat/evaluation/labelled-set.ts';
import { Retriever } from '../../services/chat/retrieval/index.ts';
import type { Tables } from '../../services/chat/tables.ts';

/** A labelled set with its documents indexed in a database of its own. */
export interface Corpus extends AsyncDisposable {
  readonly name: string;
  readonly questions: readonly LabelledQuestion[];
  readonly database: Database<Tables>;
  readonly retriever: Retriever;
  readonly library: number;
  /** Texts that answer a question, by its id, where the set has them. */
  readonly answers: ReadonlyMap<string, readonly string[]>;
  /** Questions that are about a document of the set, and that none answers. */
  readonly unanswerable: readonly string[];
}

/** Its database is a file that goes with the corpus, or a schema of the PostgreSQL database at `url`, which stays. */
export async function openCorpus(folder: string, name: string, url?: string): Promise<Corpus> {
  const set = await readLabelledSet(join(folder, name));
  return indexCorpus(name, set, { ...answersOf(join(folder, name, 'queries.jsonl')), url });
}

export async function indexCorpus(
  name: string,
  { documents = [], questions }: LabelledSet,
  {
    answers = new Map(),
    unanswerable = [],
    url,
  }: Partial<Pick<Corpus, 'answers' | 'unanswerable'>> & { readonly url?: string | undefined } = {},
): Promise<Corpus> {
  const place = mkdtempSync(join(tmpdir(), 'octavo-retrieval-'));
  const migrations = new URL('../../services/chat/migrations/', import.meta.url);
  const database = await openDatabase<Tables>({
    name: `retrieval_${randomBytes(4).toString('hex')}`,
    url,
    folder: place,
    log: silentLog,
    migrations,
  });
  return {
    name,
    questions,
    database,
    retriever: new Retriever(database),
    answers,
    unanswerable,
    library: await indexSet(database, documents),
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      rmSync(place, { recursive: true });
    },
  };
}

function answersOf(file: string): Pick<Corpus, 'answers' | 'unanswerable'> {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const parsed = lines.map((line) => JSON.parse(line) as SetQuestion);
  return {
    answers: new Map(parsed.flatMap(({ id, answers }) => (answers ? [[id, answers]] : []))),
    unanswerable: parsed.filter(({ answerable }) => answerable === false).map(({ text }) => text),
  };
}

interface SetQuestion {
  readonly id: string;
  readonly text: string;
  readonly answers?: string[];
  readonly answerable?: boolean;
}

/** At most so many questions, spread over the set. */
export function sample<T>(items: readonly T[], count: number): T[] {
  const step = Math.max(1, Math.ceil(items.length / count));
  return items.filter((_, index) => index % step === 0);
}
