import { stemsOf } from '@octavo/data/terms';
import { sentencesOf } from '@octavo/documents';
import type { Passage } from '../passages/passage.ts';
import { isCommonWord, toQuestion } from '../questions/question.ts';
import type { Language } from '../wording/language.ts';
import { texts } from '../wording/texts.ts';
import type { Documents, ListedDocument } from './documents.ts';
import type { Intent } from './intent.ts';
import { type PassagePart, quotedReply, type Reply } from './quoted.ts';

const shownLengthMax = 1_000;
const mentionsMax = 200;
/** A topic of more words may be a question. */
const topicWordsMax = 3;
/** Share of the most mentions of a topic that a document needs to be named. */
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
  documents: Documents,
  intent: Intent,
  language: Language,
): Promise<Reply | undefined> {
  const words = texts[language];
  const listed = await documents.list();
  switch (intent.kind) {
    case 'greeting':
      return said(`${words.greeting} ${holding(listed, language)}`);
    case 'thanks':
      return said(words.thanks);
    case 'farewell':
      return said(words.farewell);
    case 'agreement':
      return said(`${words.agreement} ${holding(listed, language)}`);
    case 'complaint':
      return said(
        `I am sorry. I only quote what stands in your documents: ask again with other words, or name the document that you mean. ${holding(listed)}`,
      );
    case 'about':
      return said(`${words.about} ${holding(listed, language)}`);
    case 'sources':
      return said(
        `My answers are quotes from your documents. The number behind each quote leads to its place in the document. ${holding(listed)}`,
      );
    case 'count':
      return said(holding(listed, language));
    case 'list':
      return said(
        listed.length === 0 ? holding(listed, language) : `${countOf(listed, language)}:\n${linesOf(listed)}`,
      );
    case 'find':
      return foundOn(documents, intent.topic, listed);
    case 'columns': {
      const [table] = documentsOn(listed, intent.topic);
      return table && columnsOf(documents, table);
    }
    case 'within': {
      const named = documentsOn(listed, intent.document);
      return named.length === 0 ? undefined : saidIn(documents, intent.topic, named);
    }
    case 'summary': {
      const meant = await documentsMeant(documents, intent.topic, listed);
      const [first, ...others] = meant;
      if (meant === listed && others.length > 0)
        return said(`Which document do you mean? ${holding(listed)}`);
      return first && summaryOf(documents, first, others);
    }
  }
}

/** The documents that a topic names: by their titles, or "the document about" something by what they say. */
export async function documentsMeant(
  documents: Documents,
  topic: string,
  listed: readonly ListedDocument[],
): Promise<readonly ListedDocument[]> {
  if (/^(?:it|this|that|them)$/.test(topic)) return listed;
  const named = documentsOn(listed, topic);
  const about = describedDocument.exec(topic)?.[1];
  return named.length > 0 || about === undefined ? named : documentsMentioning(documents, about, listed);
}

const describedDocument =
  /^(?:document|file|manual|guide|book|text|paper|table|pdf|page) (?:about|on|of|with|for) (.+)$/i;

/** The names of the columns of a table, with its first row; undefined if a document is no table. */
async function columnsOf(documents: Documents, document: ListedDocument): Promise<Reply | undefined> {
  const row = firstRow(await documents.openingOf(document.id, openingChunks));
  return row && quotedReply([row], columnsIn(document, row), 0.9);
}

/** The columns of a table, as an introduction to its first row. */
function columnsIn(document: ListedDocument, { passage, start, end }: PassagePart): string {
  const names = columnNames(passage.text.slice(start, end));
  const rest = names.length - columnsMax;
  const shown = [...names.slice(0, columnsMax), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
  return `“${document.title}” (${document.filename}) has the columns ${shown}. The first row: `;
}

/** The names of the columns of a row, or of the lines of a record: `country` and `year` of "country: Norway; year: 1952". */
function columnNames(row: string): string[] {
  const names = row.matchAll(/(?:^|[;\n])[ \t]*([^:=;\n]{1,60}?)[ \t]*[:=](?=\s|$)/g);
  return Array.from(names, ([, name = '']) => name);
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
  return line.includes('; ') && columnNames(line).length > 1;
}

/** The sentences of documents that mention a topic; undefined if they have no passage with its words. */
async function saidIn(
  documents: Documents,
  topic: string,
  named: readonly ListedDocument[],
): Promise<Reply | undefined> {
  const only = named.map(({ id }) => id);
  const passages = await documents.passagesWith(topic, { match: 'every', only, limit: saidMax });
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
async function foundOn(
  documents: Documents,
  topic: string,
  listed: readonly ListedDocument[],
): Promise<Reply | undefined> {
  const found = documentsOn(listed, topic);
  if (found.length > 0) return said(`${countOf(found)} about “${topic}”:\n${linesOf(found)}`);
  const mentioning = await documentsMentioning(documents, topic, listed);
  const verb = mentioning.length === 1 ? 'mentions' : 'mention';
  if (mentioning.length > 0)
    return said(`${countOf(mentioning)} that ${verb} “${topic}”:\n${linesOf(mentioning)}`);
  if (toQuestion(topic).terms.length > topicWordsMax) return undefined;
  return said(`No document mentions “${topic}”. ${holding(listed)}`);
}

function said(text: string): Reply {
  return { text: text.trim(), citations: [], kind: 'reply', abstained: false, confidence: 1, passages: [] };
}

function holding(documents: readonly ListedDocument[], language: Language = 'en'): string {
  const { empty, such, others } = texts[language];
  if (documents.length === 0) return empty;
  const names = documents.slice(0, 3).map(({ title }) => `“${title}”`);
  const more = documents.length > names.length ? ` ${others}` : '';
  return `${countOf(documents, language)}, ${such} ${names.join(', ')}${more}.`;
}

function countOf({ length }: readonly ListedDocument[], language: Language = 'en'): string {
  const { one, many } = texts[language];
  return length === 1 ? one : many(length);
}

/** All documents, with their titles if these fit into an answer that people read; as many as fit of a large library, and the number of others. */
function linesOf(documents: readonly ListedDocument[]): string {
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
function documentsOn(documents: readonly ListedDocument[], topic: string): ListedDocument[] {
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
  documents: Documents,
  topic: string,
  listed: readonly ListedDocument[],
): Promise<ListedDocument[]> {
  const passages = await documents.passagesWith(topic, { match: 'every', limit: mentionsMax });
  const counts = new Map<number, number>();
  for (const { document } of passages) counts.set(document, (counts.get(document) ?? 0) + 1);
  const least = Math.max(0, ...counts.values()) * mentionShare;
  return listed
    .filter(({ id }) => (counts.get(id) ?? 0) > 0 && (counts.get(id) ?? 0) >= least)
    .sort((one, other) => (counts.get(other.id) ?? 0) - (counts.get(one.id) ?? 0));
}

/** The first sentences of a document, and the names of its sections. */
async function summaryOf(
  documents: Documents,
  document: ListedDocument,
  others: readonly ListedDocument[],
): Promise<Reply> {
  const passages = await documents.openingOf(document.id, openingChunks);
  const row = firstRow(passages);
  const reply = row
    ? quotedReply([row], columnsIn(document, row), 0.9)
    : quotedReply(openingQuotes(passages, document), `“${document.title}” (${document.filename}): `, 0.9);
  const sections = await documents.sectionsOf(document.id, sectionsRead);
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
function openingQuotes(passages: readonly Passage[], { title }: ListedDocument): PassagePart[] {
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
  const telling = sentences.filter(({ score }) => score > -1);
  // A short document may have short sentences alone.
  const best = telling.length === 0 ? sentences : telling.sort((one, other) => other.score - one.score);
  return best.slice(0, sentencesMax).sort((one, other) => one.place - other.place || one.start - other.start);
}
