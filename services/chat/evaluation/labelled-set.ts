import { existsSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@octavo/core';
import type { Grades } from './metrics.ts';

export interface LabelledDocument {
  readonly id: string;
  readonly text: string;
}

export interface LabelledQuestion {
  readonly id: string;
  readonly text: string;
  /** By the id of the document, or by its file name where the set has no documents of its own. */
  readonly grades: Grades;
  /** A text that a right answer has, if the set tells; null if the documents do not answer the question. */
  readonly answer?: string | null;
}

/** Questions with the documents that answer them. */
export interface LabelledSet {
  /** Absent if the questions are about the documents of the library. */
  readonly documents: readonly LabelledDocument[] | undefined;
  readonly questions: readonly LabelledQuestion[];
}

/**
 * Reads a folder with `docs.jsonl` (`{id, title?, text}`), `queries.jsonl` (`{id, text}`) and `qrels.tsv` (a header, then question, document
 * and grade), or a file of lines `{"query": "...", "documents": ["name.pdf", ...], "answer": "28 days"}` about the documents of the library; `answer` is null for what
 * the documents do not say. Throws
 * `invalid_input` that names the file and the line.
 */
export async function readLabelledSet(path: string): Promise<LabelledSet> {
  if (!existsSync(path)) throw new AppError('invalid_input', `${path} does not exist`);
  const set = statSync(path).isDirectory() ? await readFolder(path) : await readQuestions(path);
  if (set.questions.length === 0)
    throw new AppError('invalid_input', `${path} has no questions with documents`);
  return set;
}

async function readFolder(folder: string): Promise<LabelledSet> {
  const documents: LabelledDocument[] = [];
  for await (const { values, wrong } of objectsIn(join(folder, 'docs.jsonl'))) {
    const { id, title = '', text } = values;
    if (typeof id !== 'string' || typeof text !== 'string' || typeof title !== 'string')
      throw wrong('must be {"id": "...", "text": "..."}, with a title if it has one');
    documents.push({ id, text: text.startsWith(title) ? text : `${title}\n\n${text}` });
  }
  const grades = await readGrades(join(folder, 'qrels.tsv'));
  const questions: LabelledQuestion[] = [];
  for await (const { values, wrong } of objectsIn(join(folder, 'queries.jsonl'))) {
    const { id, text } = values;
    if (typeof id !== 'string' || typeof text !== 'string')
      throw wrong('must be {"id": "...", "text": "..."}');
    const own = grades.get(id);
    if (own) questions.push({ id, text, grades: own });
  }
  return { documents, questions };
}

async function readGrades(file: string): Promise<ReadonlyMap<string, Grades>> {
  const grades = new Map<string, Map<string, number>>();
  for await (const { number, text, wrong } of linesOf(file)) {
    const [question = '', document = '', grade = '1'] = text.split('\t').map((cell) => cell.trim());
    if (number === 1) continue;
    if (document === '' || !/^\d+$/.test(grade))
      throw wrong('must be question, document and grade, with tabs between');
    const known = grades.get(question) ?? new Map<string, number>();
    grades.set(question, known.set(document, Number(grade)));
  }
  return grades;
}

async function readQuestions(file: string): Promise<LabelledSet> {
  const questions: LabelledQuestion[] = [];
  for await (const { values, wrong } of objectsIn(file)) {
    const { query, documents, answer } = values;
    const isList = Array.isArray(documents) && documents.every((name) => typeof name === 'string');
    const hasAnswer = answer === undefined || answer === null || typeof answer === 'string';
    if (typeof query !== 'string' || !isList || !hasAnswer)
      throw wrong(
        'must be {"query": "...", "documents": ["name", ...]}, with an answer, a text or null, if you want',
      );
    const grades = new Map(documents.map((name: string) => [name, 1]));
    const id = String(questions.length + 1);
    questions.push({
      id,
      text: query,
      grades,
      ...(answer !== undefined && { answer: answer as string | null }),
    });
  }
  return { documents: undefined, questions };
}

interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** The error that names this line. */
  readonly wrong: (problem: string) => AppError;
}

/** The lines of a file that are not empty. */
async function* linesOf(file: string): AsyncGenerator<Line> {
  if (!existsSync(file)) throw new AppError('invalid_input', `${file} does not exist`);
  await using handle = await open(file);
  let number = 0;
  for await (const text of handle.readLines()) {
    const place = `${file}, line ${++number}`;
    const wrong = (problem: string) => new AppError('invalid_input', `${place}: ${problem}`);
    if (text.trim() !== '') yield { number, text, wrong };
  }
}

async function* objectsIn(file: string) {
  for await (const { text, wrong } of linesOf(file)) {
    const values = parsed(text);
    if (typeof values !== 'object' || values === null) throw wrong('is not a JSON object');
    yield { values: values as Readonly<Record<string, unknown>>, wrong };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
