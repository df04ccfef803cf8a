import { stemsOf } from '@octavo/data/terms';
import { sentencesOf } from '@octavo/documents';
import { fieldsOf, type Intent, type Language, type Passage, texts } from '@octavo/reader';
import { isCommonWord, toQuestion } from '@octavo/reader/questions';
import { type Filters, filteredDocuments } from '../retrieval/index.ts';
import { originOf } from './origin.ts';
import { type PassagePart, quotedReply, type Reply } from './quoted.ts';
import { type Listed, listedDocuments, openingOf, passagesWith, type Store, sectionsOf } from './store.ts';

const shownLengthMax = 1_000;
const mentionsMax = 200;
/** A topic of more words may be a question. */
const topicWordsMax = 3;
/** Documents that mention a topic are named if they have so many of the mentions that the first has. */
const mentionShare = 0.2;
const openingChunks = 30;
const sentencesMax = 3;
const sectionsMax = 8;
const sectionsRead = 2_000;
/** Columns that are named of a table. */
const columnsMax = 30;
/** Sentences that are quoted of one document. */
const saidMax = 3;

/** The reply to an input that is no question; undefined if it is one after all, as where no document is meant. */
export async function everydayReply(
  store: Store,
  intent: Intent,
  {
    libraries,
    filters,
    language = 'en',
  }: {
    readonly libraries: readonly number[];
    readonly filters?: Filters | undefined;
    readonly language?: Language;
  },
): Promise<Reply | undefined> {
  const words = texts[language];
  const only = filters && (await filteredDocuments(store, libraries, filters));
  const documents = libraries.length === 0 ? [] : await listedDocuments(store, libraries, only);
  switch (intent.kind) {
    case 'greeting':
      return said(`${words.greeting} ${holding(documents, language)}`);
    case 'thanks':
      return said(words.thanks);
    case 'farewell':
      return said(words.farewell);
    case 'agreement':
      return said(`${words.agreement} ${holding(documents, language)}`);
    case 'complaint':
      return said(
        `I am sorry. I only quote what stands in your documents: ask again with other words, or name the document that you mean. ${holding(documents)}`,
      );
    case 'about':
      return said(`${words.about} ${holding(documents, language)}`);
    case 'sources':
      return said(
        `My answers are quotes from your documents. The number behind each quote leads to its place in the document. ${holding(documents)}`,
      );
    case 'count':
      return said(holding(documents, language));
    case 'list':
      return said(
        documents.length === 0
          ? holding(documents, language)
          : `${countOf(documents, language)}:\n${linesOf(documents)}`,
      );
    case 'find':
      return foundOn(store, intent.topic, { documents, libraries, only });
    case 'columns': {
      const [table] = documentsOn(documents, intent.topic);
      return table && columnsOf(store, table);
    }
    case 'author':
    case 'license': {
      const named = documentsOn(documents, intent.topic);
      return named.length === 0 ? undefined : originOf(store, intent.kind, { documents: named, libraries });
    }
    case 'within': {
      const named = documentsOn(documents, intent.document);
      return named.length === 0
        ? undefined
        : saidIn(store, intent.topic, { documents: named, libraries, only });
    }
    case 'summary': {
      const meant = await documentsMeant(store, intent.topic, { documents, libraries, only });
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

/** The documents that a topic names: by their titles, or "the document about" something by what they say. */
async function documentsMeant(store: Store, topic: string, scope: Scope): Promise<readonly Listed[]> {
  if (/^(?:it|this|that|them)$/.test(topic)) return scope.documents;
  const named = documentsOn(scope.documents, topic);
  const about = describedDocument.exec(topic)?.[1];
  return named.length > 0 || about === undefined ? named : documentsMentioning(store, about, scope);
}

const describedDocument =
  /^(?:document|file|manual|guide|book|text|paper|table|pdf|page) (?:about|on|of|with|for) (.+)$/i;

/** The names of the columns of a table, with its first row; undefined if a document is no table. */
async function columnsOf(store: Store, document: Listed): Promise<Reply | undefined> {
  const row = firstRow(await openingOf(store, document.id, openingChunks));
  return row && quotedReply([row], columnsIn(document, row), 0.9);
}

/** The columns of a table, as an introduction to its first row. */
function columnsIn(document: Listed, { passage, start, end }: PassagePart): string {
  const names = fieldsOf(passage.text.slice(start, end)).map(({ name }) => name);
  const rest = names.length - columnsMax;
  const shown = [...names.slice(0, columnsMax), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
  return `“${document.title}” (${document.filename}) has the columns ${shown}. The first row: `;
}

/** The first row of a table with the names of its columns; undefined if there is none. */
function firstRow(passages: readonly Passage[]): PassagePart | undefined {
  for (const passage of passages) {
    const line = passage.text.split('\n').find((each) => isRow(each));
    if (line === undefined) continue;
    const start = passage.text.indexOf(line);
    return { passage, start, end: start + line.length };
  }
  return undefined;
}

function isRow(line: string): boolean {
  return line.includes('; ') && fieldsOf(line).length > 1;
}

/** The sentences of documents that mention a topic; undefined if they have no passage with its words. */
async function saidIn(
  store: Store,
  topic: string,
  { documents, libraries }: Scope,
): Promise<Reply | undefined> {
  const only = documents.map(({ id }) => id);
  const passages = await passagesWith(store, topic, { match: 'every', libraries, only, limit: saidMax });
  const asked = toQuestion(topic).terms.map(({ stem }) => stem);
  const parts = passages.flatMap((passage) => sentenceOn(passage, asked)).slice(0, saidMax);
  const [first] = parts;
  return first && quotedReply(parts, `“${first.passage.title}” (${first.passage.filename}): `, 0.8);
}

/** The sentence of a passage with most of some words. */
function sentenceOn(passage: Passage, asked: readonly string[]): PassagePart[] {
  const scored = sentencesOf(passage.text).map((span) => {
    const own = new Set(stemsOf(passage.text.slice(span.start, span.end)));
    return { ...span, shared: asked.filter((stem) => own.has(stem)).length };
  });
  const [best] = scored.toSorted((one, other) => other.shared - one.shared);
  return best && best.shared > 0 ? [{ passage, start: best.start, end: best.end }] : [];
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
  return { text: text.trim(), citations: [], kind: 'reply', abstained: false, confidence: 1, passages: [] };
}

function holding(documents: readonly Listed[], language: Language = 'en'): string {
  const { empty, such, others } = texts[language];
  if (documents.length === 0) return empty;
  const names = documents.slice(0, 3).map(({ title }) => `“${title}”`);
  const more = documents.length > names.length ? ` ${others}` : '';
  return `${countOf(documents, language)}, ${such} ${names.join(', ')}${more}.`;
}

function countOf({ length }: readonly Listed[], language: Language = 'en'): string {
  const { one, many } = texts[language];
  return length === 1 ? one : many(length);
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
    'the document documents file files manual man page pages guide book handbook paper text pdf html txt md csv tsv json docx xlsx info help reference faq table spreadsheet sheet data',
  ),
);

/** The documents whose titles or names have the words of a topic, best first; or those that it names as they are called. */
function documentsOn(documents: readonly Listed[], topic: string): Listed[] {
  const called = documents.filter(({ filename }) => topic.toLowerCase() === filename.toLowerCase());
  if (called.length > 0) return called;
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
  const passages = await passagesWith(store, topic, { match: 'every', libraries, only, limit: mentionsMax });
  const counts = new Map<number, number>();
  for (const { document } of passages) counts.set(document, (counts.get(document) ?? 0) + 1);
  const least = Math.max(0, ...counts.values()) * mentionShare;
  return documents
    .filter(({ id }) => (counts.get(id) ?? 0) > 0 && (counts.get(id) ?? 0) >= least)
    .sort((one, other) => (counts.get(other.id) ?? 0) - (counts.get(one.id) ?? 0));
}

/** The first sentences of a document, and the names of its sections. */
async function summaryOf(store: Store, document: Listed, others: readonly Listed[]): Promise<Reply> {
  const passages = await openingOf(store, document.id, openingChunks);
  const row = firstRow(passages);
  const reply = row
    ? quotedReply([row], columnsIn(document, row), 0.9)
    : quotedReply(openingQuotes(passages, document), `“${document.title}” (${document.filename}): `, 0.9);
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
  return { ...reply, text: `${reply.text}${parts}${also}` };
}

const legal = /copyright|©|\(c\) \d{4}|licen[sc]e|warranty|all rights|\bisbn\b|\.{5}/i;

/** The first sentences that tell something of a document. */
function openingQuotes(passages: readonly Passage[], { title }: Listed): PassagePart[] {
  const about = new Set(stemsOf(title));
  const sentences = passages.flatMap((passage, place) =>
    sentencesOf(passage.text).map((span, at) => {
      const text = passage.text.slice(span.start, span.end);
      const words = text.split(/\s+/).length;
      const isNamed = /^\S+(?: \S+)? +[-—–] +\S/.test(text) && words < 25;
      const isTelling = words >= 7 && words <= 60 && /[.!]$/.test(text) && !legal.test(text);
      const shared = stemsOf(text).some((stem) => about.has(stem)) ? 1 : 0;
      const score = isNamed ? 5 : isTelling ? 2 + shared - Math.min(2.5, place * 0.3) - at * 0.05 : -1;
      return { passage, start: span.start, end: span.end, score, place };
    }),
  );
  const best = sentences.filter(({ score }) => score > -1).sort((one, other) => other.score - one.score);
  return best.slice(0, sentencesMax).sort((one, other) => one.place - other.place || one.start - other.start);
}
