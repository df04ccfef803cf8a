import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stemsOf } from '@octavo/data/terms';
import type { ListedDocument } from './everyday/documents.ts';
import type { Passage } from './passages/passage.ts';
import { sourceOfPassage } from './passages/source.ts';
import { QueryTermWeights } from './questions/query-term-weights.ts';
import { toQuestion } from './questions/question.ts';
import { read } from './read.ts';
import type { PassagesQuery, Search } from './reading.ts';

const handbook = [
  'Everybody has 28 days of vacation a year. Days that are left over expire in March.',
  'The harbor office opens at nine. It is closed on Sundays.',
  'Guests pay 20 crowns for a berth.',
];
const listed: ListedDocument = { id: 1, title: 'Handbook', filename: 'handbook.txt', chunkCount: 3 };
const asked = (text: string) => ({ text, language: 'en', sourcesMax: 5 }) as const;

test('a question is quoted from the place that answers it, in the passage that has it', async () => {
  const reading = await read(asked('Hello, how many days of vacation does everybody have?'), [], searching());
  assert.ok(reading.kind === 'passages');
  assert.equal(reading.question, 'how many days of vacation does everybody have?');
  assert.match(reading.answer.text, /28 days/);
  assert.match(reading.sources[0]?.best?.text ?? '', /28 days/);
  assert.equal(reading.isPart, false);
});

test('a question that goes on is read with what was asked before', async () => {
  const searched: PassagesQuery[] = [];
  const history = [{ role: 'user', content: 'What do guests pay for a berth?' }] as const;
  const reading = await read(asked('And for a mooring?'), history, searching(searched));
  assert.equal(reading.question, 'What do guests pay for a mooring?');
  assert.equal(searched[0]?.text, reading.question);
  assert.equal(searched[0]?.asked, 'And for a mooring?');
  assert.ok((searched[0]?.limit ?? 0) >= 5);
});

test('a greeting and a question about the documents are replied to without a search', async () => {
  const searched: PassagesQuery[] = [];
  for (const text of ['Hello!', 'Which documents do you have?']) {
    const reading = await read(asked(text), [], searching(searched));
    assert.equal(reading.kind, 'reply');
    assert.match(reading.answer.text, /Handbook|handbook\.txt/);
  }
  assert.deepEqual(searched, []);
});

test('only the part of a question that is for documents is searched', async () => {
  const searched: PassagesQuery[] = [];
  const part = 'When does the harbor office open?';
  const search = { ...searching(searched), partForDocuments: async () => part };
  const reading = await read(asked(`Who leads the fund? ${part}`), [], search);
  assert.ok(reading.kind === 'passages' && reading.isPart);
  assert.equal(searched[0]?.text, part);
});

test('each part of a question is answered, and one without an answer is named; of a comparison both sides are shown', async () => {
  const both = await read(
    asked('How many days of vacation does everybody have, and when does the harbor office open?'),
    [],
    searching(),
  );
  assert.match(both.answer.text, /28 days.* \[1\]\n\n.*opens at nine.* \[2\]$/s);
  assert.deepEqual(
    both.sources.slice(0, 2).map(({ best }) => best?.text.slice(0, 9)),
    ['Everybody', 'The harbo'],
  );
  for (const citation of both.answer.citations)
    assert.equal(both.answer.text.slice(citation.answer_start, citation.answer_end), citation.quote);
  const half = await read(
    asked('How many days of vacation does everybody have, and who repairs the elevator?'),
    [],
    searching(),
  );
  assert.match(half.answer.text, /28 days.*I found no answer to “who repairs the elevator\?”/s);
  const compared = await read(asked('Compare vacation days and the harbor office'), [], searching());
  assert.match(compared.answer.text, /28 days/);
  assert.match(compared.answer.text, /opens at nine/);
});

test('words that no document has are not answered, and the reply is in the language of the question', async () => {
  const german = { text: 'Wie heißt der Kapitän?', language: 'de', sourcesMax: 5 } as const;
  const reading = await read(german, [], { ...searching(), passages: async (query) => found(query, []) });
  assert.equal(reading.answer.kind, 'none');
  assert.equal(reading.answer.abstained, true);
  assert.deepEqual(reading.sources, []);
  assert.doesNotMatch(reading.answer.text, /\bthe\b/);
});

/** A search that finds all passages for any question, those that share the most words first. */
function searching(searched: PassagesQuery[] = []): Search {
  return {
    async passages(query) {
      searched.push(query);
      const wanted = new Set(toQuestion(query.text).terms.map(({ stem }) => stem));
      const shared = (text: string) => stemsOf(text).filter((stem) => wanted.has(stem)).length;
      return found(
        query,
        handbook.map(passageOf).toSorted((a, b) => shared(b.text) - shared(a.text)),
      );
    },
    async documents() {
      return {
        list: async () => [listed],
        passagesWith: async () => handbook.map(passageOf),
        openingOf: async () => handbook.map(passageOf),
        sectionsOf: async () => [],
      };
    },
    partForDocuments: async () => undefined,
  };
}

function found({ text }: PassagesQuery, passages: readonly Passage[]) {
  const known = new Set(stemsOf(handbook.join(' ')));
  return {
    ranked: passages.map((passage, index) => ({ source: sourceOfPassage(index + 1, passage), passage })),
    documentCount: passages.length > 0 ? 1 : 0,
    confidence: passages.length > 0 ? 0.9 : 0,
    evidence: new QueryTermWeights(toQuestion(text), {
      rarityOf: () => 1,
      isKnown: (stem) => known.has(stem),
      shareIn: () => 0.3,
    }),
  };
}

function passageOf(text: string, place: number): Passage {
  const start = handbook.slice(0, place).join('\n\n').length + (place > 0 ? 2 : 0);
  const chunkId = `chunk-${place}`;
  return {
    id: place + 1,
    chunkId,
    document: listed.id,
    documentId: 'handbook',
    filename: listed.filename,
    title: listed.title,
    section: '',
    page: null,
    place,
    start,
    end: start + text.length,
    text,
  };
}
