import { DatabaseSync } from 'node:sqlite';
import { toQuestion } from '@octavo/reader/questions';
import type { LabelledDocument } from '../../../services/chat/evaluation/labelled-set.ts';
import { loadPeer } from '../lib/peer-packages.ts';

/** Finds the ids of documents for a question, best first. */
export type Peer = (question: string) => string[] | Promise<string[]>;

const found = 10;

/** FTS5 alone with its stemmer, on whole documents: any of the words that say something. */
export function fts5(documents: readonly LabelledDocument[]): Peer {
  const database = new DatabaseSync(':memory:');
  database.exec("CREATE VIRTUAL TABLE doc USING fts5(text, tokenize='porter unicode61')");
  const insert = database.prepare('INSERT INTO doc (rowid, text) VALUES (?, ?)');
  database.exec('BEGIN');
  for (const [index, { text }] of documents.entries()) insert.run(index, text);
  database.exec('COMMIT');
  const select = database.prepare('SELECT rowid AS id FROM doc WHERE doc MATCH ? ORDER BY rank LIMIT ?');
  return (question) => {
    const words = toQuestion(question).terms.map(({ word }) => `"${word}"`);
    const rows = select.all(words.join(' OR '), found) as { id: number }[];
    return rows.map(({ id }) => documents[id]?.id ?? '');
  };
}

export function miniSearch(documents: readonly LabelledDocument[]): Peer {
  const MiniSearch = loadPeer('minisearch');
  const index = new MiniSearch({ fields: ['text'] });
  index.addAll(documents.map(({ text }, id) => ({ id, text })));
  return (question) =>
    index
      .search(question, { combineWith: 'OR' })
      .slice(0, found)
      .map(({ id }: { id: number }) => documents[id]?.id ?? '');
}

export async function orama(documents: readonly LabelledDocument[]): Promise<Peer> {
  const { create, insertMultiple, search } = loadPeer('@orama/orama');
  const database = create({
    schema: { text: 'string', name: 'string' },
    components: { tokenizer: { stemming: true, language: 'english' } },
  });
  await insertMultiple(
    database,
    documents.map(({ id, text }) => ({ name: id, text })),
  );
  return async (question) => {
    const { hits } = await search(database, {
      term: question,
      properties: ['text'],
      limit: found,
      threshold: 1,
    });
    return hits.map(({ document }: { document: { name: string } }) => document.name);
  };
}
