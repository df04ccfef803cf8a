import { createReadStream, existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { AppError } from '#kit/errors.ts';
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
}

/** Questions with the documents that answer them. */
export interface LabelledSet {
  /** Absent if the questions are about the documents of the library. */
  readonly documents: readonly LabelledDocument[] | undefined;
  readonly questions: readonly LabelledQuestion[];
}

/**
 * Reads a folder with `docs.jsonl` (`{id, title?, text}`), `queries.jsonl` (`{id, text}`) and `qrels.tsv` (question, document, grade), or a
 * file of lines `{"query": "...", "documents": ["name.pdf", ...]}` about the documents of the library.
 */
export async function readLabelledSet(path: string): Promise<LabelledSet> {
  if (!existsSync(path)) throw new AppError('invalid_input', `${path} does not exist`);
  return statSync(path).isDirectory() ? readFolder(path) : readQuestions(path);
}

async function readFolder(folder: string): Promise<LabelledSet> {
  const documents: LabelledDocument[] = [];
  for await (const line of linesOf(join(folder, 'docs.jsonl'))) {
    const { id, title = '', text } = parsed(line, folder) as { id: string; title?: string; text: string };
    documents.push({ id, text: text.startsWith(title) ? text : `${title}\n\n${text}` });
  }
  const grades = new Map<string, Map<string, number>>();
  const [, ...rows] = (await readFile(join(folder, 'qrels.tsv'), 'utf8')).trim().split('\n');
  for (const row of rows) {
    const [question = '', document = '', grade = '1'] = row.split('\t');
    const known = grades.get(question) ?? new Map<string, number>();
    grades.set(question, known.set(document, Number(grade)));
  }
  const questions: LabelledQuestion[] = [];
  for await (const line of linesOf(join(folder, 'queries.jsonl'))) {
    const { id, text } = parsed(line, folder) as { id: string; text: string };
    const own = grades.get(id);
    if (own) questions.push({ id, text, grades: own });
  }
  return { documents, questions };
}

async function readQuestions(file: string): Promise<LabelledSet> {
  const questions: LabelledQuestion[] = [];
  for await (const line of linesOf(file)) {
    const { query, documents } = parsed(line, file) as { query?: unknown; documents?: unknown };
    if (typeof query !== 'string' || !Array.isArray(documents))
      throw new AppError(
        'invalid_input',
        `${file}: each line is {"query": "...", "documents": ["name", ...]}`,
      );
    const grades = new Map(documents.map((name) => [String(name), 1]));
    questions.push({ id: String(questions.length + 1), text: query, grades });
  }
  return { documents: undefined, questions };
}

async function* linesOf(file: string): AsyncGenerator<string> {
  for await (const line of createInterface({ input: createReadStream(file) }))
    if (line.trim() !== '') yield line;
}

function parsed(line: string, file: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new AppError('invalid_input', `${file} has a line that is not JSON: ${line.slice(0, 80)}`, {
      cause,
    });
  }
}
