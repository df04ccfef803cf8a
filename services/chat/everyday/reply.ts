import { stemsOf } from '#kit/search/terms.ts';
import { type Answer, answerOf, type Quote } from '../answers/index.ts';
import {
  type Filters,
  filteredDocuments,
  isCommonWord,
  keywordMatches,
  type Passage,
  passagesOf,
  toQuestion,
} from '../retrieval/index.ts';
import { sentencesOf } from '../sentences.ts';
import type { Intent } from './intent.ts';
import { firstChunks, type Listed, listedDocuments, sectionsOf } from './store.ts';

type Store = Parameters<typeof listedDocuments>[0];

/** A reply from the contents of the library. Citations refer to the passages by position, from 1. */
export interface Reply extends Answer {
  readonly passages: readonly Passage[];
}

const shownLengthMax = 1_000;
const mentionsMax = 200;
/** A topic of more words may be a question. */
const topicWordsMax = 3;
/** Documents that mention a topic are named if they have so many of the mentions that the first has. */
const mentionShare = 0.2;
const openingChunks = 10;
const sentencesMax = 3;
const sectionsMax = 8;
const sectionsRead = 2_000;

/** The reply to an input that is no question; undefined if it is one after all, as where no document is meant. */
export async function everydayReply(
  store: Store,
  intent: Intent,
  { libraries, filters }: { readonly libraries: readonly number[]; readonly filters?: Filters | undefined },
): Promise<Reply | undefined> {
  const only = filters && (await filteredDocuments(store, libraries, filters));
  const documents = libraries.length === 0 ? [] : await listedDocuments(store, libraries, only);
  switch (intent.kind) {
    case 'greeting':
      return said(`Hello! Ask me something about your documents. ${holding(documents)}`);
    case 'thanks':
      return said('You are welcome. Ask me anything else about your documents.');
    case 'farewell':
      return said('Goodbye! Your documents stay here for your next question.');
    case 'agreement':
      return said(`What would you like to know? ${holding(documents)}`);
    case 'complaint':
      return said(
        `I am sorry. I only quote what stands in your documents: ask again with other words, or name the document that you mean. ${holding(documents)}`,
      );
    case 'about':
      return said(
        `I am the chat of this library. I answer questions with quotes from your documents, and show where each of them stands. I say so where no document has an answer. You can also ask me to list the documents or to summarize one. ${holding(documents)}`,
      );
    case 'sources':
      return said(
        `My answers are quotes from your documents. The number behind each quote leads to its place in the document. ${holding(documents)}`,
      );
    case 'count':
      return said(holding(documents));
    case 'list':
      return said(
        documents.length === 0 ? holding(documents) : `${countOf(documents)}:\n${linesOf(documents)}`,
      );
    case 'find':
      return foundOn(store, intent.topic, { documents, libraries, only });
    case 'summary': {
      const meant = /^(?:it|this|that|them)$/.test(intent.topic)
        ? documents
        : documentsOn(documents, intent.topic);
      const [first, ...others] = meant;
      if (meant === documents && others.length > 0)
        return said(`Which document do you mean? ${holding(documents)}`);
      return first && summaryOf(store, first, others);
    }
  }
}

interface Scope {
  readonly documents: readonly Listed[];
  readonly libraries: readonly number[];
  readonly only: readonly number[] | undefined;
}

/** The documents on a topic, or those that mention it; undefined for a longer topic that none mentions, as it may be a question. */
async function foundOn(store: Store, topic: string, scope: Scope): Promise<Reply | undefined> {
  const { documents } = scope;
  const found = documentsOn(documents, topic);
  if (found.length > 0) return said(`${countOf(found)} about “${topic}”:\n${linesOf(found)}`);
  const mentioning = await documentsMentioning(store, topic, scope);
  const verb = mentioning.length === 1 ? 'mentions' : 'mention';
  if (mentioning.length > 0)
    return said(`${countOf(mentioning)} that ${verb} “${topic}”:\n${linesOf(mentioning)}`);
  if (toQuestion(topic).terms.length > topicWordsMax) return undefined;
  return said(`No document mentions “${topic}”. ${holding(documents)}`);
}

function said(text: string): Reply {
  return { text: text.trim(), citations: [], abstained: false, confidence: 1, passages: [] };
}

function holding(documents: readonly Listed[]): string {
  if (documents.length === 0) return 'There are no documents yet: upload some first.';
  const names = documents.slice(0, 3).map(({ title }) => `“${title}”`);
  const more = documents.length > names.length ? ' and others' : '';
  return `${countOf(documents)}, such as ${names.join(', ')}${more}.`;
}

function countOf(documents: readonly Listed[]): string {
  return documents.length === 1 ? 'There is 1 document' : `There are ${documents.length} documents`;
}

/** All documents, with their titles if these fit into an answer that people read; as many as fit of a large library, and the number of others. */
function linesOf(documents: readonly Listed[]): string {
  const titled = documents.map(({ title, filename }) => {
    const isNamedSo = title === filename || filename.startsWith(`${title}.`);
    return isNamedSo ? `- ${filename}` : `- ${title} (${filename})`;
  });
  const named = documents.map(({ filename }) => `- ${filename}`);
  const lines = lengthOf(titled) <= shownLengthMax ? titled : named;
  let length = 0;
  const shown = lines.filter((line, place) => {
    length += line.length + 1;
    return place === 0 || length <= shownLengthMax;
  });
  const rest = documents.length - shown.length;
  return [...shown, ...(rest > 0 ? [`- and ${rest} more, which the page of documents lists`] : [])].join(
    '\n',
  );
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

/** Words for documents of any kind, which say little about which one is meant. */
const genericWords = new Set(
  stemsOf(
    'the document documents file files manual man page pages guide book handbook paper text pdf html txt md csv docx xlsx info help reference faq',
  ),
);

/** The documents whose titles or names have the words of a topic, best first. */
function documentsOn(documents: readonly Listed[], topic: string): Listed[] {
  const stems = [...new Set(stemsOf(topic))].filter((stem) => !isCommonWord(stem));
  const telling = stems.filter((stem) => !genericWords.has(stem));
  if (stems.length === 0) return [];
  const scored = documents.map((document) => {
    const own = new Set(stemsOf(`${document.title} ${document.filename}`));
    const has = (stem: string) =>
      own.has(stem) || (stem.length >= 4 && [...own].some((each) => each.startsWith(stem)));
    const isMeant = telling.length > 0 ? telling.every(has) : stems.some(has);
    return {
      document,
      isMeant,
      score: stems.filter(has).length / stems.length + stems.length / (own.size + 100),
    };
  });
  const meant = scored.filter(({ isMeant }) => isMeant);
  meant.sort((one, other) => other.score - one.score || other.document.chunkCount - one.document.chunkCount);
  return meant.map(({ document }) => document);
}

/** The documents with passages that have all words of a topic, those with most of them first. */
async function documentsMentioning(
  store: Store,
  topic: string,
  { documents, libraries, only }: Scope,
): Promise<Listed[]> {
  const { terms } = toQuestion(topic);
  const wanted = terms.map((term) => ({ terms: [term], weight: 1 }));
  const query = { wanted, unwanted: [], match: 'every' } as const;
  const matches = await Promise.all(
    libraries.map((library) => keywordMatches(store, query, { library, limit: mentionsMax, only })),
  );
  const ids = matches.flat().map(({ id }) => id);
  const passages = ids.length === 0 ? [] : [...(await passagesOf(store, ids)).values()];
  const counts = new Map<number, number>();
  for (const { document } of passages) counts.set(document, (counts.get(document) ?? 0) + 1);
  const least = Math.max(0, ...counts.values()) * mentionShare;
  return documents
    .filter(({ id }) => (counts.get(id) ?? 0) > 0 && (counts.get(id) ?? 0) >= least)
    .sort((one, other) => (counts.get(other.id) ?? 0) - (counts.get(one.id) ?? 0));
}

/** The first sentences of a document, and the names of its sections. */
async function summaryOf(store: Store, document: Listed, others: readonly Listed[]): Promise<Reply> {
  const ids = await firstChunks(store, document.id, openingChunks);
  const read = ids.length === 0 ? new Map<number, Passage>() : await passagesOf(store, ids);
  const passages = ids.flatMap((id) => read.get(id) ?? []);
  const quotes = openingQuotes(passages, document);
  const used = [...new Set(quotes.map(({ passage }) => passage))];
  const sections = await sectionsOf(store, document.id, sectionsRead);
  const names = [
    ...new Set(
      sections.map(
        (section) =>
          section
            .split(' > ')
            .find((part) => part !== document.title)
            ?.trim() ?? '',
      ),
    ),
  ].filter((name) => name !== '' && name !== document.title && name.length <= 80);
  const composed = answerOf(
    quotes.map((quote) => ({ ...quote, sourceIndex: used.indexOf(quote.passage) + 1 })),
    `“${document.title}” (${document.filename}): `,
  );
  const parts =
    names.length > 1
      ? ` Its sections: ${names.slice(0, sectionsMax).join('; ')}${names.length > sectionsMax ? '; …' : ''}.`
      : '';
  const also =
    others.length > 0
      ? ` See also ${others
          .slice(0, 3)
          .map(({ filename }) => filename)
          .join(', ')}.`
      : '';
  return {
    ...composed,
    text: `${composed.text}${parts}${also}`,
    abstained: false,
    confidence: 0.9,
    passages: used,
  };
}

const legal = /copyright|©|\(c\) \d{4}|licen[sc]e|warranty|all rights|\bisbn\b|\.{5}/i;

/** The first sentences that tell something of a document. */
function openingQuotes(passages: readonly Passage[], { title }: Listed): Omit<Quote, 'sourceIndex'>[] {
  const about = new Set(stemsOf(title));
  const sentences = passages.flatMap((passage, place) =>
    sentencesOf(passage.text).map((span, at) => {
      const text = passage.text.slice(span.start, span.end);
      const words = text.split(/\s+/).length;
      const isNamed = /^\S+(?: \S+)? +[-—–] +\S/.test(text) && words < 25;
      const isTelling = words >= 7 && words <= 60 && /[.!]$/.test(text) && !legal.test(text);
      const shared = stemsOf(text).some((stem) => about.has(stem)) ? 1 : 0;
      const score = isNamed ? 5 : isTelling ? 2 + shared - place * 0.3 - at * 0.05 : -1;
      return { passage, start: span.start, end: span.end, score, place };
    }),
  );
  const best = sentences.filter(({ score }) => score > -1).sort((one, other) => other.score - one.score);
  return best.slice(0, sentencesMax).sort((one, other) => one.place - other.place || one.start - other.start);
}
