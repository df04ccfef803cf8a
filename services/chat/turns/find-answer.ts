import type { Database } from '@octavo/data';
import {
  type Answered,
  extractiveAnswer,
  type Language,
  rephrased,
  shorterQuestions,
  withBestPlaces,
} from '@octavo/reader';
import { countUnread, knownLibraries } from '../documents/index.ts';
import { type LibraryRules, librariesOf } from '../library.ts';
import type { Owner } from '../owner.ts';
import type { Found, Retriever } from '../retrieval/index.ts';
import type { Tables } from '../tables.ts';
import type { TurnRequest } from './turn.ts';

export interface SearchParts {
  readonly database: Database<Tables>;
  readonly retriever: Retriever;
  readonly library: LibraryRules;
}

interface Asker {
  readonly owner: Owner;
  readonly session: string | undefined;
}

/** The passages for a question with their best places, in the documents that serve its owner and the session. */
export async function searchPassages(
  parts: SearchParts,
  fields: SearchFields,
  owner: Owner,
  sessionId: string | undefined,
): Promise<Found> {
  return withBestPlaces(await readPassages(parts, fields, { owner, session: sessionId }));
}

async function readPassages(
  { database, retriever, library }: SearchParts,
  { query, asked, strategy, topK, rerank = true, filters }: SearchFields,
  { owner, session: sessionId }: Asker,
): Promise<Found> {
  const libraries = await knownLibraries(database, librariesOf(library, owner, sessionId));
  const found = await retriever.search({ query, asked, strategy, topK, rerank, filters, libraries });
  const unread = await countUnread(database, libraries);
  if (unread === 0) return found;
  const warning =
    unread === 1
      ? 'A document is still being read and was not searched.'
      : `${unread} documents are still being read and were not searched.`;
  return { ...found, warnings: [...found.warnings, warning] };
}

export interface SearchFields
  extends Pick<TurnRequest, 'query' | 'strategy' | 'topK' | 'rerank' | 'filters'> {
  /** The question without its context, if that differs. */
  readonly asked?: string;
}

/** Number of passages that are read for the answer; as many as the request asks for stay as its sources. */
const readMax = 10;
/** Other senses of a question are not tried above this. */
const sureEnough = 0.7;
const answeredFrom = 0.5;

/**
 * The answer in quotes, to the question in the sense that has the best one. It is asked once more with other words for what the documents
 * do not have.
 */
export async function findAnswer(
  parts: SearchParts,
  request: SearchFields & { readonly language: Language },
  meant: readonly string[],
  context: Asker,
): Promise<Answered<Found> & { readonly question: string }> {
  const answerTo = async (question: string, asked = request.asked ?? question) => {
    const fields = { ...request, asked, query: question, topK: Math.max(readMax, request.topK) };
    const read = await readPassages(parts, fields, context);
    const { topK: sourcesMax, language } = request;
    return { ...extractiveAnswer(read, { sourcesMax, language }), question, read };
  };
  const betterOf = <A extends Answered>(one: A, other: A) =>
    other.likelihood > one.likelihood ? other : one;
  const inOtherWords = async (answered: Awaited<ReturnType<typeof answerTo>>, asked: string | undefined) => {
    const passages = answered.read.ranked.map(({ passage }) => passage);
    const other = rephrased(answered.question, answered.read.evidence, passages);
    return other === undefined ? answered : betterOf(answered, await answerTo(other, asked));
  };
  const [first = request.query] = meant;
  let best = await answerTo(first);
  // Another thing put into the question before is what is meant, if that is answered at all.
  const isReplacing = request.asked !== undefined && !first.endsWith(request.asked);
  const enough = isReplacing ? answeredFrom : sureEnough;
  for (const question of meant.slice(1)) {
    // A question that may go on is about something else only if nothing answers it in any other sense.
    const isAlone = question === request.asked || first === request.asked;
    if (best.likelihood >= enough || (isAlone && best.isLikely)) break;
    best = betterOf(best, await answerTo(question));
  }
  best = await inOtherWords(best, request.asked);
  if (best.likelihood >= answeredFrom) return best;
  // What a shorter question leaves out may be what matters, so only a good answer counts.
  for (const question of shorterQuestions(request.asked ?? best.question)) {
    const answered = await inOtherWords(await answerTo(question, question), question);
    if (answered.likelihood >= sureEnough) return answered;
  }
  return best;
}
